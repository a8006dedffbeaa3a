"""Point level: each pair is right or wrong by itself."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy


def point(logits: Tensor, labels: Tensor, *, positive_weight: float = 1.0) -> Tensor:
    """Mean cross-entropy of (pairs, 2) logits against (pairs,) labels 0 and 1.

    A correct pair counts `positive_weight` times; the mean is over the weights, so the loss keeps its size.
    """
    weight = logits.new_tensor([1.0, positive_weight])
    return cross_entropy(logits, labels, weight=weight)
