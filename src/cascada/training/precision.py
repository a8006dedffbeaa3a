"""The precision in which matrices are multiplied; weights, sums and losses stay in 32 bits."""

from __future__ import annotations

import torch

from cascada.core.errors import CascadaError
from cascada.core.probe import can_run


def products_in(precision: str) -> torch.autocast:
    """A context in which products are computed in "float32", or in "bfloat16" if the processor can."""
    if precision == "bfloat16" and not can_run("torch bfloat16"):
        raise CascadaError(
            "torch cannot compute in bfloat16 on this processor: set training.precision to float32, "
            "or leave out --bfloat16."
        )
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16")
