"""Does an exported ranker still rank as the trained one does?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cascada.data import Group, Run, qrels
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.runs import exit_runs

CLOSE = 1e-4
"""How far a score in full precision may be from torch's."""


@dataclass(frozen=True)
class Agreement:
    """Trained against exported, everyone run to the end."""

    largest_difference: float
    """Of any score at any exit."""
    trained: float
    """MAP at the last exit."""
    exported: float

    @property
    def loss(self) -> float:
        return self.trained - self.exported


def agreement(
    folder: Path, out: Path, groups: Sequence[Group], advance: Callable[[int], None] = lambda pairs: None
) -> Agreement:
    """Rank the groups, which must have ids, with both; `advance` is told of pairs that were ranked."""
    before, after = (exit_runs(Ranker.load(place), groups, advance) for place in (folder, out))
    labels = qrels(groups)
    return Agreement(
        largest_difference=max(_difference(*runs) for runs in zip(before, after, strict=True)),
        trained=evaluate(before[-1], labels, ("MAP",)).mean["MAP"],
        exported=evaluate(after[-1], labels, ("MAP",)).mean["MAP"],
    )


def _difference(one: Run, other: Run) -> float:
    return max(abs(score - other[question][name]) for question, row in one.items() for name, score in row.items())
