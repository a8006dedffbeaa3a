"""The cost of ranking, computed in advance: survivors, layer-candidates and floating-point operations."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Plan, dropped
from cascada.ranking.stage import Ints


def survivors_into(plan: Plan, candidates: int) -> list[int]:
    """How many candidates reach each stage."""
    survivors = [candidates]
    for rule in plan:
        survivors.append(survivors[-1] - dropped(rule, survivors[-1]))
    return survivors


@dataclass(frozen=True)
class CostModel:
    """The cost of a ranker with these exits and this drop plan.

    In a cascade, a stage runs the layers after the previous exit; in a sequential ranker, each stage is a separate
    model and runs all of its layers. Costs are relative to running the last model on every candidate. Layers below the
    `join` of a decoupled ranker are not counted, because the document encodings are cached.
    """

    exits: tuple[int, ...]
    plan: Plan
    sequential: bool = False
    join: int = 0

    def __post_init__(self) -> None:
        if not any(self.exits) or any(before >= after for before, after in pairwise((self.join - 1, *self.exits))):
            raise CascadaError(
                f"The exits are {self.exits}; they must be layers from {self.join} on, in ascending order."
            )
        if self.join and (self.sequential or self.exits[-1] == self.join):
            raise CascadaError("A join needs an exit above it, and cannot be combined with a sequential ranker.")

    @property
    def layers(self) -> list[int]:
        """The number of layers that each stage runs."""
        if self.sequential:
            return list(self.exits)
        return [last - first for first, last in pairwise((self.join, *self.exits))]

    @property
    def full(self) -> int:
        """The number of layers of the model that costs are relative to."""
        return self.exits[-1] - self.join

    def layer_candidates(self, candidates: int) -> list[int]:
        """For each stage, its layers times the candidates that reach it."""
        return [n * layers for n, layers in zip(survivors_into(self.plan, candidates), self.layers, strict=True)]

    def relative_cost(self, candidates: int) -> float:
        """Layer-candidates, relative to running every candidate through the last model."""
        return sum(self.layer_candidates(candidates)) / (self.full * candidates)

    def average_batch(self, candidates: int) -> float:
        """The batch size averaged over all layers, if this many candidates start."""
        return sum(self.layer_candidates(candidates)) / sum(self.layers)

    def largest_batch(self, limit: int) -> int:
        """The largest number of candidates whose average batch, rather than the first, is within `limit`.

        Section 3 of the Cascade Transformer paper: memory for a plain batch of 84 holds a cascade's batch of 128 if α
        is 0.3.
        """
        if not self.layers[0]:
            raise CascadaError("The first exit costs nothing: there is no limit on the number of candidates.")
        room = limit * sum(self.layers)
        most = room // self.layers[0]  # more would not fit even if the first exit dropped all of them
        return bisect_right(range(most + 1), room, key=lambda count: sum(self.layer_candidates(count))) - 1

    def flops(self, candidates: int, model: TransformerFlops, tokens: Ints) -> list[int]:
        """Expected operations of each stage, given the lengths of typical pairs.

        Survivors are assumed to have the average length.
        """
        per_candidate = [float(model.stage(layers, tokens).mean()) for layers in self.layers]
        return [round(n * flops) for n, flops in zip(survivors_into(self.plan, candidates), per_candidate, strict=True)]

    def full_flops(self, candidates: int, model: TransformerFlops, tokens: Ints) -> int:
        """Operations of the last model on every candidate, including the heads of all exits of a cascade."""
        stages = self.layers[-1:] if self.sequential else self.layers
        return round(candidates * sum(float(model.stage(layers, tokens).mean()) for layers in stages))


class StageFlops(Protocol):
    """The operation counts of a ranker whose stages are layers of one network."""

    def stage(self, layers: int, tokens: Ints) -> Ints:
        """Operations of this many layers and the head of an exit, for pairs of these lengths."""
        ...


@dataclass(frozen=True)
class TransformerFlops:
    """Counts the floating-point operations of a transformer's matrix products, two for a multiplication and addition.

    Projections, attention, feed-forward layers and heads are counted. Operations linear in the states (norms, biases,
    activations, look-ups), which are about 1 % of the total, and padding are not.
    """

    hidden: int
    feed_forward: int
    head: str = "mean"
    head_width: int | None = None
    """The width of a head's dense layers; by default `hidden`."""

    def layer(self, tokens: Ints) -> Ints:
        """Operations of one layer, for texts of these lengths."""
        width = self.hidden
        projections = 8 * width * width  # query, key, value and output
        feed_forward = 4 * width * self.feed_forward
        attention = 4 * width * tokens  # scores of every token with every token, and their weighted sum
        return tokens * (projections + feed_forward + attention)

    def exit_head(self, tokens: Ints) -> Ints:
        """Operations of an exit's head on one vector per text: three dense layers and two logits, or logits only."""
        if self.head == "first":
            return np.full_like(tokens, 4 * self.hidden)
        width = self.head_width or self.hidden
        return np.full_like(tokens, 2 * width * (self.hidden + 2 * width) + 4 * width)

    def stage(self, layers: int, tokens: Ints) -> Ints:
        """Operations of this many layers and the head of an exit."""
        return layers * self.layer(tokens) + self.exit_head(tokens)
