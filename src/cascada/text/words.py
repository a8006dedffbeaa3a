"""Words of a text, for counting and comparing."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Runs of letters and digits, in lower case."""
    return WORD.findall(text.lower())
