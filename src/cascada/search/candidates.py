"""Candidate sentences: the parts of passages that `ask` ranks and `cascada encode` encodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from cascada.core.errors import CascadaError
from cascada.search.passage import Passage, is_heading
from cascada.text.statements import can_answer, passage_sentences
from cascada.text.words import words

CANDIDATES = "candidates"
UNITS = ("sentences", "paragraphs", CANDIDATES)
"""What `cascada encode` can encode: sentences or paragraphs of documents, or the candidates of a data set."""


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
        if can_answer(candidate.text, question_words):
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
        for sentence in passage_sentences(passage.text, language):
            yield CandidateSentence(sentence.text, passage, sentence.start)


def heading_of(passage: Passage) -> str:
    """The heading that the passage begins with, or else its document's name in words; for a line of JSONL, its id."""
    first = passage.text.partition("\n")[0].strip()
    if is_heading(first) and first != passage.text.strip():
        return first.lstrip("# ").strip()
    name = PurePath(passage.document).name
    _, _, line_id = name.partition(".jsonl#")
    return " ".join(words(line_id or PurePath(name).stem))
