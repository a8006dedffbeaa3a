"""Distillation: an early exit learns what the last one thinks."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import kl_div, log_softmax


def distill(logits: Tensor, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Mean divergence of (pairs, 2) logits from the teacher's, both softened; no gradient goes to the teacher.

    Times the temperature squared, so that the gradient keeps its size (Hinton et al., 2015).
    """
    taught = log_softmax(teacher.detach() / temperature, -1)
    own = log_softmax(logits / temperature, -1)
    return kl_div(own, taught, reduction="batchmean", log_target=True) * temperature**2
