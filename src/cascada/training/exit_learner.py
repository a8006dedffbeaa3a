"""Training a ranker with exits: which exits each update trains (uniform, round-robin, early, all), and their loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cascada.encoders.encoder import set_encoder_dropout
from cascada.objectives.losses import distill
from cascada.training.examples import Examples
from cascada.training.objective import Objective, positive_weight
from cascada.training.settings import ExitTraining
from cascada.training.teacher import add_teacher_loss

Exits = tuple[int, ...]


def exit_plan(exits: Exits, settings: ExitTraining, updates: int) -> Callable[[int], Exits]:
    """A function from the update's number (from 0) to the exits it trains.

    It depends on the seed alone, so that all processes train the same exits in an update, and a run that is resumed
    trains the exits it would have trained.
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
    """The probability of each exit, (exits,): proportional to n, n-1, …, 1 at first, and uniform once `faded` is 1."""
    biased = np.arange(exits, 0, -1) / (exits * (exits + 1) / 2)
    return (1 - faded) * biased + faded / exits


def _random(settings: ExitTraining, update: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, update, 1])  # the 1 separates it from the generator of the batches


class ExitLearner:
    """The learner of models whose forward pass returns logits by exit; a system's learner adds `ranker` and `save`."""

    def __init__(self, model: nn.Module, exits: tuple[int, ...], examples: Examples, settings: ExitTraining) -> None:
        self.model = model
        self.exits = exits
        self.examples = examples
        self.settings = settings
        if settings.encoder_dropout is not None:
            set_encoder_dropout(model, settings.encoder_dropout)
        self.learning_rates: dict[str, float] = {}
        self.has_unused_weights = len(exits) > 1 and settings.exits.sample != "all"
        weights = settings.objective.weights or {"point": 1.0}
        self.objective = Objective(settings.objective, weights, positive_weight=positive_weight(settings, examples))

    def begin(self, updates: int) -> None:
        self.exits_at = exit_plan(self.exits, self.settings, updates)

    def loss(self, model: nn.Module, inputs: dict[str, Any], update: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The weighted sum of the exits' losses, and the mean over the exits of each objective if there are several."""
        labels, owner, teacher = inputs.pop("labels"), inputs.pop("owner"), inputs.pop("teacher_scores", None)
        exits, stop_gradient = self.exits_at(update), self.settings.exits.gradient == "exit-before"
        logits = model(**inputs, exits=exits, stop_gradient=stop_gradient, teacher=self.settings.exits.distill > 0)
        losses = [self._loss_at(exit, logits, labels, owner, teacher) for exit in exits]
        names = self.objective.weights if len(self.objective.weights) > 1 else ()
        parts = {name: torch.stack([parts[name] for _, parts in losses]).mean() for name in names}
        total = torch.stack([loss * self._weight(exit) for exit, (loss, _) in zip(exits, losses, strict=True)]).sum()
        return total, parts

    def _weight(self, exit: int) -> float:
        return self.settings.exits.last if exit == self.exits[-1] else 1.0

    def by_level(self, exit: int, logits: Tensor) -> dict[str, Tensor]:
        """The output that each objective is computed from: the same for all, unless the exit has a head per level."""
        return dict.fromkeys(self.objective.weights, logits)

    def _loss_at(
        self, exit: int, logits: dict[int, Tensor], labels: Tensor, owner: Tensor, teacher: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        loss, parts = self.objective(self.by_level(exit, logits[exit]), labels, owner)
        logits = {layer: output[:, :2] for layer, output in logits.items()}  # (pairs, 2) of the level that ranks
        loss = add_teacher_loss(loss, logits[exit], teacher, self.settings.teacher, labels=labels, owner=owner)
        share, last = self.settings.exits.distill, self.exits[-1]
        if share and exit != last:
            distilled = distill(logits[exit], logits[last], temperature=self.settings.exits.temperature)
            loss = (1 - share) * loss + share * distilled
        return loss, parts
