"""Choose a few incorrect candidates for training: some of each label, the hard ones first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cascada.core.errors import CascadaError
from cascada.data.group import Group
from cascada.data.sample import even_shares

HARD_FIRST = (3, 2, 1)
"""The labels of incorrect sentences, the hardest first. Earlier labels get the remainder of an uneven division."""


@dataclass(frozen=True)
class NegativeChoice:
    """How many incorrect candidates a question keeps, and which."""

    count: int
    labels: tuple[int, ...] = HARD_FIRST
    """Only sentences with these labels, in equal numbers as far as there are enough."""
    hard: float = 0.5
    """The share of each label that is taken in the order of BM25; the rest is drawn at random."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise CascadaError(f"A question needs at least one incorrect candidate to learn from, not {self.count}.")
        if not self.labels or not set(self.labels) <= set(HARD_FIRST):
            raise CascadaError(f"The labels of incorrect sentences are 1, 2 and 3, not {list(self.labels)}.")
        if not 0 <= self.hard <= 1:
            raise CascadaError(f"The share of hard negatives lies between 0 and 1; it is {self.hard}.")


def choose_negatives(group: Group, choice: NegativeChoice, scores: Sequence[float], *, seed: int = 0) -> Group:
    """Keep the correct candidates and `choice.count` incorrect ones, in their order; `scores` are BM25's.

    The draw depends on the seed and the question's id only: a question has the same candidates in every sample.
    """
    draw = random.Random(f"{seed} {group.id}")
    labels = [label for label in HARD_FIRST if label in choice.labels]
    members = [
        [index for index, candidate in enumerate(group.candidates) if candidate.grade == label] for label in labels
    ]
    chosen = {index for index, label in enumerate(group.labels) if label}
    for indices, share in zip(members, even_shares([len(indices) for indices in members], choice.count), strict=True):
        ranked = sorted(indices, key=lambda index: -scores[index])
        hard = min(share, -int(-share * choice.hard // 1))  # rounded up
        chosen.update(ranked[:hard])
        chosen.update(draw.sample(ranked[hard:], share - hard))
    return replace(group, candidates=tuple(group.candidates[index] for index in sorted(chosen)))
