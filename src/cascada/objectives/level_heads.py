"""The heads of hierarchical ranking: a prediction per level, from its own features and those of the levels it reads."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from cascada.objectives.levels import Levels, levels_seen, objective_of


class LevelHeads(nn.Module):
    """A two-layer perceptron for each level, on its integrated feature (equations 11 to 15)."""

    def __init__(self, levels: Levels, width: int, hidden: int, dropout: float) -> None:
        """`width` is the width of one level's own feature."""
        super().__init__()
        self.levels = levels
        self.predict = nn.ModuleDict(
            {level: perceptron(width * count, hidden, level, dropout) for level, count in levels_seen(levels).items()}
        )

    def forward(self, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """From each level's own feature (pairs, width) to its output: (pairs, 2) logits for point, else (pairs, 1)."""
        return {level: self.predict[level](feature) for level, feature in integrated_features(self.levels, own).items()}

    def only(self, level: str, own: Mapping[str, Tensor]) -> Tensor:
        """The output of one level; `own` needs only the features of the levels that it reads."""
        return self.predict[level](integrated_features(self.levels, own)[level])  # type: ignore[no-any-return]


def integrated_features(levels: Levels, own: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The integrated feature of each level: those of the levels it reads, then its own."""
    features: dict[str, Tensor] = {}
    for level in (level for level in levels if level in own):
        before = [features[name] for name in levels[level]]
        features[level] = torch.cat([*before, own[level]], -1)  # (pairs, width · levels seen)
    return features


def perceptron(width: int, hidden: int, level: str, dropout: float) -> nn.Module:
    outputs = 2 if objective_of(level) == "point" else 1
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, outputs))


def score_of(output: Tensor) -> Tensor:
    """(pairs,) scores to rank by: the single output, or the difference of the two logits."""
    return output[:, 1] - output[:, 0] if output.shape[1] == 2 else output[:, 0]


def logits_of(output: Tensor) -> Tensor:
    """(pairs, 2) logits whose difference is the score."""
    return output if output.shape[1] == 2 else torch.cat([torch.zeros_like(output), output], -1)
