"""The head of an exit: a small classifier from the tokens' states to two logits (incorrect, correct)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from cascada.encoders.encoder import mean_of_tokens


class FirstTokenHead(nn.Module):
    """TANDA's head: W·tanh(x) + B of the first token's state x."""

    def __init__(self, hidden: int, dropout: float, width: int | None = None) -> None:
        """`width` is ignored: there is no inner layer."""
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, 2)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.out(self.dropout(torch.tanh(states[:, 0])))  # type: ignore[no-any-return]  # (pairs, 2)


class MeanHead(nn.Module):
    """The Cascade Transformer's head: mean over the real tokens, three dense layers with tanh, two logits."""

    def __init__(self, hidden: int, dropout: float, width: int | None = None) -> None:
        """`width` is that of the dense layers; by default `hidden`."""
        super().__init__()
        width = width or hidden
        layers = [nn.Linear(size, width) for size in (hidden, width, width)]
        dense = [part for layer in layers for part in (layer, nn.Tanh(), nn.Dropout(dropout))]
        self.dense = nn.Sequential(nn.Dropout(dropout), *dense)
        self.out = nn.Linear(width, 2)
        # torch's default initialisation halves the signal in each layer; orthogonal weights preserve it. For what that
        # gains, see docs/papers/cascade-transformer.md.
        for layer in (*self.dense, self.out):
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return self.out(self.dense(mean_of_tokens(states, mask)))  # type: ignore[no-any-return]  # (pairs, 2)


class MeanWithoutFirstHead(MeanHead):
    """The same with the mean over the tokens after the first: the sum that the paper prints begins at 1."""

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        return super().forward(states[:, 1:], mask[:, 1:])


HEADS: dict[str, Callable[[int, float, int | None], nn.Module]] = {
    "first": FirstTokenHead,
    "mean": MeanHead,
    "mean-without-first": MeanWithoutFirstHead,
}
