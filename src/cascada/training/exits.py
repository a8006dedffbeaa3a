"""Which exits of a cascade an update trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cascada.objectives.losses import distill
from cascada.training.examples import Examples
from cascada.training.objective import Objective
from cascada.training.settings import ExitTraining, RankerTraining
from cascada.training.teacher import mixed

Exits = tuple[int, ...]


def exit_plan(exits: Exits, settings: ExitTraining, updates: int) -> Callable[[int], Exits]:
    """A function from the update's number (from 0) to the exits it trains.

    It depends on nothing but the seed, so that every process trains the same exits in the same update, and a run that
    was killed goes on with the exits it had come to.
    """

    def uniform(update: int) -> Exits:
        return (exits[_random(settings, update).integers(len(exits))],)

    def round_robin(update: int) -> Exits:
        return (exits[update % len(exits)],)

    def early(update: int) -> Exits:
        return (exits[_random(settings, update).choice(len(exits), p=early_bias(len(exits), faded(update)))],)

    def faded(update: int) -> float:
        return min(update / max(settings.exits.fade * updates, 1), 1.0)

    def every(update: int) -> Exits:
        return exits

    return {"uniform": uniform, "round-robin": round_robin, "early": early, "all": every}[settings.exits.sample]


def early_bias(exits: int, faded: float) -> np.ndarray:
    """How likely each exit is: at first as n, n-1, … 1; when the bias has faded (1), all the same."""
    biased = np.arange(exits, 0, -1) / (exits * (exits + 1) / 2)
    return (1 - faded) * biased + faded / exits


def _random(settings: ExitTraining, update: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, update, 1])  # the 1: other numbers than those that shuffle the batches


class ExitLearner:
    """The part of a learner that all models have in common whose forward pass gives logits by exit."""

    def __init__(self, model: nn.Module, exits: tuple[int, ...], examples: Examples, settings: ExitTraining) -> None:
        self.model = model
        self.exits = exits
        self.examples = examples
        self.settings = settings
        self.rates: dict[str, float] = {}
        self.some_unused = len(exits) > 1 and settings.exits.sample != "all"
        weights = settings.objective.named or {"point": 1.0}
        self.objective = Objective(settings.objective, weights, positive_weight=positive_weight(settings, examples))

    def start(self, updates: int) -> None:
        self.exits_at = exit_plan(self.exits, self.settings, updates)

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The exits' losses summed; the parts are means over the exits, and left out where point is all there is."""
        labels, owner, taught = inputs.pop("labels"), inputs.pop("owner"), inputs.pop("taught", None)
        how, exits = self.settings.exits, self.exits_at(update)
        logits = model(**inputs, exits=exits, apart=how.gradient == "exit-before", teacher=how.distill > 0)
        found = [self._at(exit, logits, labels, owner, taught) for exit in exits]
        loss = torch.stack([loss for loss, _ in found]).sum()
        names = self.objective.weights if len(self.objective.weights) > 1 else ()
        return loss, {name: torch.stack([parts[name] for _, parts in found]).mean() for name in names}

    def by_level(self, exit: int, logits: Tensor) -> dict[str, Tensor]:
        """What each objective reads: the one score there is, unless the exit has a head for each level."""
        return dict.fromkeys(self.objective.weights, logits)

    def _at(
        self, exit: int, logits: dict[int, Tensor], labels: Tensor, owner: Tensor, taught: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        loss, parts = self.objective(self.by_level(exit, logits[exit]), labels, owner)
        logits = {layer: own[:, :2] for layer, own in logits.items()}  # of the level that ranks
        loss = mixed(loss, logits[exit], taught, self.settings.teacher)
        share, last = self.settings.exits.distill, self.exits[-1]
        if share and exit != last:
            learned = distill(logits[exit], logits[last], temperature=self.settings.exits.temperature)
            loss = (1 - share) * loss + share * learned
        return loss, parts


def positive_weight(settings: RankerTraining, examples: Examples) -> float:
    """How many times a correct pair counts."""
    return examples.balance if settings.positive_weight == "balanced" else settings.positive_weight
