"""The objectives that a recipe asks for, on a batch of whole questions."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from cascada.objectives.losses import list_level, pair, point
from cascada.objectives.level_heads import logits_of, score_of
from cascada.objectives.levels import objective_of
from cascada.training.settings import ObjectiveSettings


class Objective:
    """A weighted sum of losses, one for each level (equation 10)."""

    def __init__(self, settings: ObjectiveSettings, weights: Mapping[str, float], *, positive_weight: float) -> None:
        """`weights` has each level's; `positive_weight` is how many times a correct pair counts at point level."""
        self.settings = settings
        self.weights = weights
        self.positive_weight = positive_weight

    def __call__(
        self, outputs: Mapping[str, Tensor], labels: Tensor, owner: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss, and each level's part in it before it is weighted."""
        parts = {level: self._at(level, outputs[level], labels, owner) for level in self.weights}
        return torch.stack([self.weights[level] * loss for level, loss in parts.items()]).sum(), parts

    def _at(self, level: str, output: Tensor, labels: Tensor, owner: Tensor) -> Tensor:
        """`output` is (pairs, 2) or (pairs, 1)."""
        kind, how = objective_of(level), self.settings
        if kind == "point":
            return point(logits_of(output), labels, positive_weight=self.positive_weight)
        if kind == "list":
            return list_level(score_of(output), labels, owner)
        options = {"margin": how.margin, "against": how.against, "normalise": how.normalise}
        return pair(score_of(output), labels, owner, **options)  # type: ignore[arg-type]


def weights_of(settings: ObjectiveSettings, levels: Mapping[str, object]) -> dict[str, float]:
    """Each level's weight: that of its objective, 1 if it is not named."""
    named = {level: getattr(settings, objective_of(level)) for level in levels}
    return {level: 1.0 if weight is None else weight for level, weight in named.items()}
