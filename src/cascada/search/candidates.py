"""Candidate sentences: the parts of passages that `ask` ranks and `cascada encode` encodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from cascada.core.errors import CascadaError
from cascada.search.passage import Passage, is_heading
from cascada.text.sentences import sentences
from cascada.text.words import words

CANDIDATES = "candidates"
UNITS = ("sentences", "paragraphs", CANDIDATES)
"""What `cascada encode` can encode: sentences or paragraphs of documents, or the candidates of a data set."""

_TABLE_ROW = re.compile(r"\n(?=\|)")
_HEADING = re.compile(r"#{1,6}\s")
_EDITORS_NOTE = re.compile(r"(\[[^\[\]]*\][\s.,;:]*)+")
"""`[citation needed]`, `[edit]`, `[1][2]`: notes about the text, not part of it."""
_STATEMENT = re.compile(r"[.!…。！][\"'”’»)\]*_]*$")


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A sentence and its position."""

    text: str
    passage: Passage
    start: int
    """Its first character, counted in the passage."""

    def to_rank(self) -> dict[str, str]:
        """The candidate as `Ranker.rank` takes it, in the context of its heading."""
        return {"text": self.text, "context": heading_of(self.passage)}


def candidate_sentences(question: str, passages: Iterable[Passage], *, language: str = "en") -> list[CandidateSentence]:
    """The distinct sentences that may answer the question, each at the position where it was found first.

    Headings, editors' notes and sentences that only repeat the question are dropped.
    """
    question_words = frozenset(words(question))
    distinct: dict[str, CandidateSentence] = {}
    for candidate in _sentences(passages, language):
        if not _EDITORS_NOTE.fullmatch(candidate.text) and not _says_nothing_new(candidate.text, question_words):
            distinct.setdefault(candidate.text, candidate)
    return list(distinct.values())


def check_units(units: str, *, data_set: bool) -> None:
    """Check the options of `cascada encode`. `data_set`: whether the root or the split of a data set was given."""
    if units not in UNITS:
        raise CascadaError(f"--units takes sentences, paragraphs or candidates, not {units!r}.")
    if units != CANDIDATES and data_set:
        raise CascadaError("--root and --split belong to a data set: add --units candidates.")


def texts_in(passages: Iterable[Passage], units: str, language: str = "en") -> list[str]:
    """The distinct sentences or paragraphs of passages."""
    if units == "paragraphs":
        return list(dict.fromkeys(passage.text for passage in passages))
    return [candidate.text for candidate in candidate_sentences("", list(passages), language=language)]


def _sentences(passages: Iterable[Passage], language: str) -> Iterator[CandidateSentence]:
    for passage in passages:
        for start, part in _table_rows(passage.text):
            for sentence in sentences(part, language):
                yield CandidateSentence(sentence.text, passage, start + sentence.start)


def heading_of(passage: Passage) -> str:
    """The heading that the passage begins with, or else its document's name in words; for a line of JSONL, its id."""
    first = passage.text.partition("\n")[0].strip()
    if is_heading(first) and first != passage.text.strip():
        return first.lstrip("# ").strip()
    name = PurePath(passage.document).name
    _, _, line_id = name.partition(".jsonl#")
    return " ".join(words(line_id or PurePath(name).stem))


def _table_rows(text: str) -> Iterator[tuple[int, str]]:
    """The text, divided before each row of a Markdown table, which the sentence splitter would not separate."""
    cuts = [0, *(row.end() for row in _TABLE_ROW.finditer(text)), len(text)]
    return ((start, text[start:end]) for start, end in pairwise(cuts))


def _says_nothing_new(text: str, question_words: frozenset[str]) -> bool:
    """Whether a text is a Markdown heading, has no words, or repeats words of the question without stating anything.

    Word overlap would rank these first. "Paris is the capital of France." survives: it may be what was asked.
    """
    if _HEADING.match(text):
        return True
    return question_words.issuperset(words(text)) and not (_STATEMENT.search(text) and words(text))
