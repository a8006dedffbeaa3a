"""What a corpus is cut into before it is encoded: sentences, as `ask` ranks them, paragraphs, or candidates."""

from __future__ import annotations

from collections.abc import Iterable

from cascada.errors import CascadaError
from cascada.search.candidates import candidates
from cascada.search.passage import Passage

CANDIDATES = "candidates"
UNITS = ("sentences", "paragraphs", CANDIDATES)


def check_units(units: str, *, data_set: bool) -> None:
    """`data_set`: whether a data set's folder or split was named, which only candidates have."""
    if units not in UNITS:
        raise CascadaError(f"--units takes sentences, paragraphs or candidates, not {units!r}.")
    if units != CANDIDATES and data_set:
        raise CascadaError("--root and --split belong to a data set: add --units candidates.")


def texts_in(passages: Iterable[Passage], units: str, language: str = "en") -> list[str]:
    """Sentences or paragraphs, each once."""
    if units == "paragraphs":
        return list(dict.fromkeys(passage.text for passage in passages))
    return [one.text for one in candidates("", list(passages), language=language)]
