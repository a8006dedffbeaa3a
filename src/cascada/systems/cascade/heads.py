"""What stands on an exit: a small classifier from the tokens' states to two logits (wrong, right)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from cascada.encoders.encoder import mean_of_tokens


class FirstTokenHead(nn.Module):
    """TANDA's: W·tanh(x) + B of the first token's state x."""

    def __init__(self, hidden: int, dropout: float, width: int | None = None) -> None:
        """It has no layer that could have a `width`."""
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, 2)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.out(self.dropout(torch.tanh(states[:, 0])))  # type: ignore[no-any-return]  # (pairs, 2)


class MeanHead(nn.Module):
    """The cascade's: mean over the real tokens, three dense layers with tanh, two logits."""

    def __init__(self, hidden: int, dropout: float, width: int | None = None) -> None:
        """The dense layers are as wide as the encoder's states if `width` is not given."""
        super().__init__()
        width = width or hidden
        layers = [nn.Linear(size, width) for size in (hidden, width, width)]
        dense = [part for layer in layers for part in (layer, nn.Tanh(), nn.Dropout(dropout))]
        self.dense = nn.Sequential(nn.Dropout(dropout), *dense)
        self.out = nn.Linear(width, 2)
        # torch's own start halves a signal in each layer; orthogonal weights keep it. What that is worth stands in
        # docs/papers/cascade-transformer.md: after half an epoch one is still guessing, the other ranks.
        for layer in (*self.dense, self.out):
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.out(self.dense(mean_of_tokens(states, mask)))  # type: ignore[no-any-return]  # (pairs, 2)


HEADS: dict[str, Callable[[int, float, int | None], nn.Module]] = {"first": FirstTokenHead, "mean": MeanHead}
