"""Words of a text, and text put back together from tokens."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Runs of letters and digits, in lower case."""
    return WORD.findall(text.lower())


_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}


_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        ("|".join(_BRACKETS), lambda found: _BRACKETS[found[0].lower()]),
        (r"``\s*", '"'),
        (r"\s*''", '"'),
        (r"(?<!\w)`\s*", "'"),
        (r"(\d) -- (?=\d)", r"\1–"),
        (r" -- ", " – "),
        (r"\s+(n't|'(?:s|re|ve|ll|d|m))\b", r"\1"),  # do n't, it 's
        (r"\s+'(?=[\s,.;:?!)\]]|$)", "'"),  # the teams ' players, the end of a `quote '
        (r"\s+([,.;:?!%)\]}])", r"\1"),
        (r"([(\[{])\s+", r"\1"),
        (r"\$ (?=\d)", "$"),
        (r"(?<=\w\.)\.$", ""),  # a sentence that ends with an abbreviation: "in the u.s. ."
        (r"\s+", " "),
    )
)


def detokenise(text: str) -> str:
    """Brackets and quotes as characters, punctuation and clitics back at their words.

    >>> detokenise("it 's `` gold '' -lrb- 24 -- 10 -rrb- , is n't it ?")
    'it\\'s "gold" (24–10), isn\\'t it?'
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()
