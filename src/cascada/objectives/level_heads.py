"""Predictions at several levels, from features that some levels hand to others."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from cascada.objectives.levels import Levels, objective_of, widths


class LevelHeads(nn.Module):
    """A two-layer perceptron for each level, on its integrated feature (equations 11 to 15)."""

    def __init__(self, levels: Levels, width: int, hidden: int, dropout: float) -> None:
        """`width` is that of one level's own feature."""
        super().__init__()
        self.levels = levels
        self.predict = nn.ModuleDict(
            {level: perceptron(width * count, hidden, level, dropout) for level, count in widths(levels).items()}
        )

    def forward(self, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Each level's own feature (pairs, width) to its output: (pairs, 2) logits at point level, else (pairs, 1)."""
        return {level: self.predict[level](feature) for level, feature in integrated(self.levels, own).items()}

    def only(self, level: str, own: Mapping[str, Tensor]) -> Tensor:
        """One level's output; of the others only the features that it reads are needed."""
        return self.predict[level](integrated(self.levels, own)[level])  # type: ignore[no-any-return]


def integrated(levels: Levels, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The features that each level's prediction sees: those of the levels it reads, then its own."""
    features: dict[str, Tensor] = {}
    for level in (level for level in levels if level in own):
        before = [features[name] for name in levels[level]]
        features[level] = torch.cat([*before, own[level]], -1)  # (pairs, width · levels seen)
    return features


def perceptron(width: int, hidden: int, level: str, dropout: float) -> nn.Module:
    outputs = 2 if objective_of(level) == "point" else 1
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, outputs))


def score_of(output: Tensor) -> Tensor:
    """(pairs,) scores to rank by: the one number, or by how much `right` exceeds `wrong`."""
    return output[:, 1] - output[:, 0] if output.shape[1] == 2 else output[:, 0]


def logits_of(output: Tensor) -> Tensor:
    """(pairs, 2) logits whose difference is the score."""
    return output if output.shape[1] == 2 else torch.cat([torch.zeros_like(output), output], -1)
