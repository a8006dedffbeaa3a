"""The weighted sum of objectives that a recipe asks for."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from cascada.objectives.level_heads import logits_of, score_of
from cascada.objectives.levels import objective_of
from cascada.objectives.losses import list_level, pair, point
from cascada.training.examples import Examples
from cascada.training.settings import ObjectiveSettings, RankerTraining


class Objective:
    """A weighted sum of losses, one for each level (equation 10 of hierarchical ranking)."""

    def __init__(self, settings: ObjectiveSettings, weights: Mapping[str, float], *, positive_weight: float) -> None:
        """`weights` maps each level to its weight; `positive_weight` is the weight of a correct pair at point level."""
        self.settings = settings
        self.weights = weights
        self.positive_weight = positive_weight

    def __call__(
        self, outputs: Mapping[str, Tensor], labels: Tensor, owner: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss, and the unweighted loss of each level.

        `outputs` has (pairs, 2) or (pairs, 1) for each level; `labels` and `owner` are (pairs,).
        """
        parts = {level: self._loss_at(level, outputs[level], labels, owner) for level in self.weights}
        return torch.stack([self.weights[level] * loss for level, loss in parts.items()]).sum(), parts

    def _loss_at(self, level: str, output: Tensor, labels: Tensor, owner: Tensor) -> Tensor:
        objective, settings = objective_of(level), self.settings
        if objective == "point":
            return point(logits_of(output), labels, positive_weight=self.positive_weight)
        if objective == "list":
            return list_level(score_of(output), labels, owner)
        options = {"margin": settings.margin, "against": settings.against, "normalise": settings.normalise}
        return pair(score_of(output), labels, owner, **options)  # type: ignore[arg-type]


def level_weights(settings: ObjectiveSettings, levels: Mapping[str, object]) -> dict[str, float]:
    """The weight of each level: that of its objective, or 1 if the recipe gives none."""
    given = {level: getattr(settings, objective_of(level)) for level in levels}
    return {level: 1.0 if weight is None else weight for level, weight in given.items()}


def positive_weight(settings: RankerTraining, examples: Examples) -> float:
    """The weight of a correct pair at point level, `balanced` resolved."""
    return examples.balance if settings.positive_weight == "balanced" else settings.positive_weight
