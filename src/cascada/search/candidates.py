"""Sentences of passages, as a ranker's candidates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from cascada.search.passages import Passage
from cascada.text.sentences import sentences
from cascada.text.words import words

_ROW = re.compile(r"\n(?=\|)")


_HEADING = re.compile(r"#{1,6}\s")


_NOTE = re.compile(r"(\[[^\[\]]*\][\s.,;:]*)+")
"""`[citation needed]`, `[edit]`, `[1][2]`: put in by whoever keeps the text, and no part of what it says."""


_STATEMENT = re.compile(r"[.!…。！][\"'”’»)\]*_]*$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence, and where it stands."""

    text: str
    passage: Passage
    start: int
    """Where it begins in the passage."""


def candidates(question: str, passages: Iterable[Passage], *, language: str = "en") -> list[Candidate]:
    """Every sentence once, at the place that was found first; without those that say nothing of their own."""
    asked = frozenset(words(question))
    found: dict[str, Candidate] = {}
    for candidate in _sentences(passages, language):
        if not _NOTE.fullmatch(candidate.text) and not _only_asks(candidate.text, asked):
            found.setdefault(candidate.text, candidate)
    return list(found.values())


def _sentences(passages: Iterable[Passage], language: str) -> Iterator[Candidate]:
    for passage in passages:
        for start, part in _parts(passage.text):
            for sentence in sentences(part, language):
                yield Candidate(sentence.text, passage, start + sentence.start)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """A Markdown table's rows are apart; what ends a sentence otherwise is for the splitter to know."""
    cuts = [0, *(row.end() for row in _ROW.finditer(text)), len(text)]
    return ((start, text[start:end]) for start, end in pairwise(cuts))


def _only_asks(text: str, asked: frozenset[str]) -> bool:
    """A Markdown heading, no words at all, or words of the question that state nothing: a heading, the question itself.

    Word overlap would put these first. "Paris is the capital of France." stays: it may be what was asked.
    """
    if _HEADING.match(text):
        return True
    return asked.issuperset(words(text)) and not (_STATEMENT.search(text) and words(text))
