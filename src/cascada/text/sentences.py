"""Sentences of a text, with the place where each stands."""

from __future__ import annotations

import re
from typing import NamedTuple

_WIDE_SPACE = re.compile(r"[^\S\x00-\x7f]")


class Sentence(NamedTuple):
    text: str
    start: int
    end: int
    """Characters: `document[start:end] == text`."""


def sentences(document: str, language: str = "en") -> list[Sentence]:
    """Split a text into its sentences, without the white space around them.

    `language` is a two-letter code; a language without rules of its own is split as its closest relative is.
    """
    import sentencex

    # sentencex 1.0 panics next to a no-break space after an initial ("J.\xa0Smith"): it meets plain spaces only.
    # One character stands for one character, so its offsets are valid in the original.
    plain = _WIDE_SPACE.sub(" ", document)
    spans = sentencex.get_sentence_boundaries(language, plain)
    found = (_trimmed(document, span["start_index"], span["end_index"]) for span in spans)
    return [sentence for sentence in found if sentence.text]


def _trimmed(document: str, start: int, end: int) -> Sentence:
    part = document[start:end]
    start += len(part) - len(part.lstrip())
    text = part.strip()
    return Sentence(text, start, start + len(text))
