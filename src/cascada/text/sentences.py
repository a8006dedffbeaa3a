"""Split a text into sentences, with their character offsets."""

from __future__ import annotations

import re
from typing import NamedTuple

_NON_ASCII_SPACE = re.compile(r"[^\S\x00-\x7f]")


class Sentence(NamedTuple):
    """A sentence and its place: `document[start:end] == text`, in characters."""

    text: str
    start: int
    end: int


def sentences(document: str, language: str = "en") -> list[Sentence]:
    """Split a text into its sentences, without the white space around them.

    `language` is a two-letter code; a language without rules of its own is split by those of its closest relative.
    """
    import sentencex

    # sentencex 1.0 panics at a no-break space after an initial ("J.\xa0Smith"), so it is given ASCII spaces only.
    # One character replaces one character, so its offsets are valid in the original.
    plain = _NON_ASCII_SPACE.sub(" ", document)
    spans = sentencex.get_sentence_boundaries(language, plain)
    trimmed = (_trimmed(document, span["start_index"], span["end_index"]) for span in spans)
    return [sentence for sentence in trimmed if sentence.text]


def _trimmed(document: str, start: int, end: int) -> Sentence:
    part = document[start:end]
    start += len(part) - len(part.lstrip())
    text = part.strip()
    return Sentence(text, start, start + len(text))
