"""The exit at the join: how alike the two sides' mean encodings are."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

LOG_SCALE, SHIFT = "cosine.log_scale", "cosine.shift"
"""The two weights' names in a ranker: single numbers, which have far to go and learn faster than the rest."""


class CosineExit(nn.Module):
    """scale · cosine + shift as the score, both trained: the same order as the cosine's, and a probability."""

    def __init__(self) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(2.3))  # the logarithm, since a scale below 0 would turn the order
        self.shift = nn.Parameter(torch.tensor(-5.0))

    def forward(self, question: Tensor, document: Tensor) -> Tensor:
        """Logits (pairs, 2) of mean encodings (pairs, hidden)."""
        score = self.log_scale.exp() * cosine_similarity(question, document, dim=-1) + self.shift
        return torch.stack((torch.zeros_like(score), score), -1)
