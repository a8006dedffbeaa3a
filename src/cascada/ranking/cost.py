"""What ranking costs, known before anything is ranked: survivors, layer-candidates, floating-point operations."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Plan, dropped
from cascada.ranking.stage import Ints


def survivors_into(plan: Plan, candidates: int) -> list[int]:
    """How many candidates come to each stage."""
    survivors = [candidates]
    for rule in plan:
        survivors.append(survivors[-1] - dropped(rule, survivors[-1]))
    return survivors


@dataclass(frozen=True)
class Course:
    """The exits of a ranker and what they drop.

    In a cascade a stage runs the layers since the exit before it; in the sequential ranker each stage is a model of its
    own and runs all of its layers. Costs are relative to the last exit's model on every candidate. Layers below the
    `join` of a decoupled ranker are not counted: its documents are cached.
    """

    exits: tuple[int, ...]
    plan: Plan
    sequential: bool = False
    join: int = 0

    def __post_init__(self) -> None:
        least = max(self.join, 1)
        if not self.exits or any(before >= after for before, after in pairwise((least - 1, *self.exits))):
            raise CascadaError(
                f"The exits are {self.exits}; they must be layers from {least} up, each above the one before."
            )
        if self.join and (self.sequential or self.exits[-1] == self.join):
            raise CascadaError("Above a join there has to be an exit, and one model that it belongs to.")

    @property
    def layers(self) -> list[int]:
        """How many layers each stage runs."""
        if self.sequential:
            return list(self.exits)
        return [last - first for first, last in pairwise((self.join, *self.exits))]

    @property
    def full(self) -> int:
        """Layers of the model that costs are relative to."""
        return self.exits[-1] - self.join

    def layer_candidates(self, candidates: int) -> list[int]:
        """For each stage, its layers times the candidates that come to it."""
        return [n * layers for n, layers in zip(survivors_into(self.plan, candidates), self.layers, strict=True)]

    def relative_cost(self, candidates: int) -> float:
        """Layer-candidates, relative to running everyone through the last exit's model."""
        return sum(self.layer_candidates(candidates)) / (self.full * candidates)

    def average_batch(self, candidates: int) -> float:
        """The batch size averaged over all layers that are run, when so many candidates start."""
        return sum(self.layer_candidates(candidates)) / sum(self.layers)

    def largest_batch(self, limit: int) -> int:
        """How many candidates may start when the average batch, not the first one, has to be within `limit`.

        Section 3 of the paper: memory that holds a plain batch of 84 holds a cascade's of 128, if α is 0.3.
        """
        if not self.layers[0]:
            raise CascadaError("The exit at the join costs nothing: any number of candidates may start.")
        room = limit * sum(self.layers)
        most = room // self.layers[0]  # more would not fit if all left at the first exit
        return bisect_right(range(most + 1), room, key=lambda start: sum(self.layer_candidates(start))) - 1

    def flops(self, candidates: int, arithmetic: Arithmetic, tokens: Ints) -> list[int]:
        """Operations of each stage, expected from the lengths of texts such as the candidates are.

        Who survives is not known before the run: survivors are taken to be as long as all are on average.
        """
        each = [float(arithmetic.stage(layers, tokens).mean()) for layers in self.layers]
        return [round(n * one) for n, one in zip(survivors_into(self.plan, candidates), each, strict=True)]

    def full_flops(self, candidates: int, arithmetic: Arithmetic, tokens: Ints) -> int:
        """Operations of the last model on every candidate; a cascade's has a head on every exit."""
        stages = self.layers[-1:] if self.sequential else self.layers
        return round(candidates * sum(float(arithmetic.stage(layers, tokens).mean()) for layers in stages))


@dataclass(frozen=True)
class Arithmetic:
    """A transformer's matrix products, a multiplication and an addition as two operations.

    Counted are projections, attention, feed-forward layers and heads; not what is linear in the states (norms, biases,
    activations, look-ups), which is about one in a hundred. Padding is not counted either.
    """

    hidden: int
    feed_forward: int
    head: str = "mean"
    head_width: int | None = None
    """Of the dense layers of a head; `hidden` if not given."""

    def layer(self, tokens: Ints) -> Ints:
        """One layer, on texts of so many tokens each."""
        width = self.hidden
        projections = 8 * width * width  # query, key, value and output
        feed_forward = 4 * width * self.feed_forward
        attention = 4 * width * tokens  # every token with every token: scores, and their weighted sum
        return tokens * (projections + feed_forward + attention)

    def on_exit(self, tokens: Ints) -> Ints:
        """The head of an exit, which reads one vector whatever the length: three dense layers, then two logits."""
        if self.head != "mean":
            return np.full_like(tokens, 4 * self.hidden)
        width = self.head_width or self.hidden
        return np.full_like(tokens, 2 * width * (self.hidden + 2 * width) + 4 * width)

    def stage(self, layers: int, tokens: Ints) -> Ints:
        """So many layers with an exit's head on them."""
        return layers * self.layer(tokens) + self.on_exit(tokens)
