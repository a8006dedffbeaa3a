"""How a ranker with exits learns: at some of them in each update, from the objectives named in the recipe."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from cascada.objectives import distill
from cascada.training.examples import Examples
from cascada.training.exits import exit_plan
from cascada.training.objective import Objective
from cascada.training.settings import TrainingSettings
from cascada.training.teacher import mixed


class ExitLearner:
    """The part of a learner that all models have in common whose forward pass gives logits by exit."""

    def __init__(
        self, model: nn.Module, exits: tuple[int, ...], examples: Examples, settings: TrainingSettings
    ) -> None:
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


def positive_weight(settings: TrainingSettings, examples: Examples) -> float:
    """How many times a correct pair counts."""
    return examples.balance if settings.positive_weight == "balanced" else settings.positive_weight
