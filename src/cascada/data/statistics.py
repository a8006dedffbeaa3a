"""Which questions count. The papers report on three versions of the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group

Mode = Literal["raw", "no-all-negative", "clean"]


MODES: tuple[Mode, ...] = get_args(Mode)


def keeps(group: Group, mode: Mode) -> bool:
    """Whether the group is part of the data in this mode.

    raw: every group. no-all-negative: at least one candidate answers (the usual training data).
    clean: moreover, at least one does not (the usual test data: elsewhere every order is perfect).
    """
    labels = group.labels
    if mode == "raw":
        return True
    return any(labels) and (mode == "no-all-negative" or not all(labels))


def select(groups: Iterable[Group], mode: Mode) -> Iterator[Group]:
    """The groups the mode keeps, as a stream."""
    checked(mode)
    return (group for group in groups if keeps(group, mode))


def checked(mode: str) -> Mode:
    """The mode of that name, or a sentence with those there are."""
    for known in MODES:
        if mode == known:
            return known
    raise CascadaError(f"There is no mode {mode!r}; the modes are {', '.join(MODES)}.")


@dataclass(slots=True)
class Statistics:
    """Grows group by group."""

    questions: int = 0
    pairs: int = 0
    positives: int = 0
    grades: dict[int, int] = field(default_factory=dict)
    """Pairs per grade, where the data has grades (ASNQ's labels 1 to 4)."""

    @property
    def average_candidates(self) -> float:
        """Of a question."""
        return self.pairs / self.questions if self.questions else 0.0

    @property
    def average_correct(self) -> float:
        """Correct candidates of a question."""
        return self.positives / self.questions if self.questions else 0.0

    def add(self, group: Group) -> None:
        """Count a question with its pairs."""
        self.questions += 1
        for candidate in group.candidates:
            self.add_pair(candidate)

    def add_pair(self, candidate: Candidate) -> None:
        """A pair alone, for data whose pairs do not come question by question."""
        self.pairs += 1
        self.positives += candidate.label or 0
        if candidate.grade is not None:
            self.grades[candidate.grade] = self.grades.get(candidate.grade, 0) + 1

    def counting(self, groups: Iterable[Group]) -> Iterator[Group]:
        """The same groups, each counted as it passes."""
        for group in groups:
            self.add(group)
            yield group

    def as_dict(self) -> dict[str, Any]:
        """What `cascada data stats --json` prints of one split and mode."""
        counts: dict[str, Any] = {"questions": self.questions, "pairs": self.pairs, "positives": self.positives}
        averages = {"average_candidates": self.average_candidates, "average_correct": self.average_correct}
        grades = {"grades": {str(grade): self.grades[grade] for grade in sorted(self.grades)}} if self.grades else {}
        return counts | averages | grades


def statistics(groups: Iterable[Group]) -> Statistics:
    """Counted in one pass."""
    counted = Statistics()
    for group in groups:
        counted.add(group)
    return counted


def statistics_by_mode(groups: Iterable[Group]) -> dict[Mode, Statistics]:
    """All modes from a single pass over the raw data."""
    counted: dict[Mode, Statistics] = {mode: Statistics() for mode in MODES}
    for group in groups:
        for mode, one in counted.items():
            if keeps(group, mode):
                one.add(group)
    return counted
