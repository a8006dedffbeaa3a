"""The form that all data has: a group is a question with its candidate sentences."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from cascada.core.errors import DataError


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may answer the question."""

    text: str
    label: int | None = None
    """1 if it answers the question, 0 if not, None if it is not labelled."""
    id: str | None = None
    grade: int | None = None
    """ASNQ's label, 1 to 4: the kind of sentence, of which only 4 is correct. Not a relevance."""
    relevance: int | None = None
    """Graded relevance, if the data has it (TREC-DL: 0 to 3); `label` is 1 from some threshold on."""
    score: float | None = None
    """A teacher model's score, on any scale that the candidates of the question share."""

    @property
    def gain(self) -> int | None:
        """The relevance that nDCG counts: the graded one, otherwise the label."""
        return self.label if self.relevance is None else self.relevance


@dataclass(frozen=True, slots=True)
class Group:
    """A question and all its candidates, in the order of the data."""

    question: str
    candidates: tuple[Candidate, ...]
    id: str | None = None

    @property
    def labels(self) -> tuple[int, ...]:
        """The candidates' labels; an unlabelled candidate counts as 0."""
        return tuple(candidate.label or 0 for candidate in self.candidates)

    @property
    def texts(self) -> tuple[str, ...]:
        """The candidates' sentences."""
        return tuple(candidate.text for candidate in self.candidates)


def identified(groups: Iterable[Group]) -> Iterator[Group]:
    """Fill in missing ids: a question's is its position from 1, a candidate's is `{question id}-{index}` from 0.

    Existing ids stay. Two questions, or two candidates of one question, with the same id are an error.
    """
    seen: set[str] = set()
    for position, group in enumerate(groups, 1):
        name = str(position) if group.id is None else group.id
        if name in seen:
            raise DataError(f"Question {position} ({group.question!r}) has the id {name!r} of an earlier question.")
        seen.add(name)
        yield Group(group.question, _candidates(name, group.candidates), name)


def _candidates(question: str, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    seen: set[str | None] = set()
    named = []
    for index, candidate in enumerate(candidates):
        if candidate.id is None:
            candidate = replace(candidate, id=f"{question}-{index}")
        if candidate.id in seen:
            raise DataError(f"Question {question!r} has two candidates with the id {candidate.id!r}.")
        seen.add(candidate.id)
        named.append(candidate)
    return tuple(named)


def data_digest(groups: Sequence[Group]) -> str:
    """Digest of ids and texts. Labels are not part of it, because they do not change scores."""
    digest = blake2b(digest_size=16)
    for group in groups:
        if group.candidates:
            row = [group.id, group.question, *((candidate.id, candidate.text) for candidate in group.candidates)]
            digest.update(json.dumps(row).encode())
    return digest.hexdigest()
