"""The one shape all data has: a question with its candidate sentences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sentence that may answer the question."""

    text: str
    label: int | None = None
    """1 if it answers the question, 0 if not, None if nobody said."""
    id: str | None = None
    grade: int | None = None
    """The finer label of a data set that has one (ASNQ: 1 to 4)."""


@dataclass(frozen=True, slots=True)
class Group:
    """One question and all its candidates, in the order the data gives them."""

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
