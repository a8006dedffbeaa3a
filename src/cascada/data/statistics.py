"""Modes, the three versions of a data set that the papers report on; and counts of questions and pairs."""

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

    - raw: every group.
    - no-all-negative: groups with a correct candidate (the usual training data).
    - clean: groups with a correct and an incorrect candidate (the usual test data: otherwise every order is perfect).
    """
    labels = group.labels
    if mode == "raw":
        return True
    return any(labels) and (mode == "no-all-negative" or not all(labels))


def select(groups: Iterable[Group], mode: Mode) -> Iterator[Group]:
    """Stream the groups that are part of the data in this mode."""
    parse_mode(mode)
    return (group for group in groups if keeps(group, mode))


def parse_mode(mode: str) -> Mode:
    """The mode of that name; raise CascadaError with the known names if there is none."""
    for known in MODES:
        if mode == known:
            return known
    raise CascadaError(f"There is no mode {mode!r}; the modes are {', '.join(MODES)}.")


@dataclass(slots=True)
class Statistics:
    """Counts of questions and pairs, updated group by group."""

    questions: int = 0
    pairs: int = 0
    positives: int = 0
    grades: dict[int, int] = field(default_factory=dict)
    """Grade → number of pairs, if the data has grades (ASNQ's labels 1 to 4)."""

    @property
    def average_candidates(self) -> float:
        """Candidates per question."""
        return self.pairs / self.questions if self.questions else 0.0

    @property
    def average_correct(self) -> float:
        """Correct candidates per question."""
        return self.positives / self.questions if self.questions else 0.0

    def add(self, group: Group) -> None:
        """Count a question with its pairs."""
        self.questions += 1
        for candidate in group.candidates:
            self.add_pair(candidate)

    def add_pair(self, candidate: Candidate) -> None:
        """Count a single pair, for data whose pairs do not come question by question."""
        self.pairs += 1
        self.positives += candidate.label or 0
        if candidate.grade is not None:
            self.grades[candidate.grade] = self.grades.get(candidate.grade, 0) + 1

    def counting(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Yield the groups unchanged, and count each."""
        for group in groups:
            self.add(group)
            yield group

    def to_dict(self) -> dict[str, Any]:
        """The counts of one split and mode, as `cascada data stats --json` prints them."""
        counts: dict[str, Any] = {"questions": self.questions, "pairs": self.pairs, "positives": self.positives}
        averages = {"average_candidates": self.average_candidates, "average_correct": self.average_correct}
        grades = {"grades": {str(grade): self.grades[grade] for grade in sorted(self.grades)}} if self.grades else {}
        return counts | averages | grades


def statistics(groups: Iterable[Group]) -> Statistics:
    """Count groups, in one pass."""
    counted = Statistics()
    for group in groups:
        counted.add(group)
    return counted


def statistics_by_mode(groups: Iterable[Group]) -> dict[Mode, Statistics]:
    """Count the groups of every mode, in one pass over the raw data."""
    counted: dict[Mode, Statistics] = {mode: Statistics() for mode in MODES}
    for group in groups:
        for mode, counts in counted.items():
            if keeps(group, mode):
                counts.add(group)
    return counted
