"""Attention of encoders that transformers computes: the fused kernel, and on CPUs plain products where a gradient is
needed.

On CPUs the backward pass of torch's fused kernel takes several times as long as that of the products written out: with
twelve layers of 384 and texts of 64 tokens in bfloat16, it is half of a training step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drop
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import eager_mask

NAME = "cascada"


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    scaling: float | None = None,
    dropout: float = 0.0,
    **more: Any,
) -> tuple[Tensor, None]:
    """Attend with query, key and value (texts, heads, tokens, size): (texts, tokens, heads, size), and no weights.

    `mask` is added to the scores. Its lowest number may be that of a wider precision, which overflows to minus infinity
    here: a token that attends to no other, such as padding far from the text, would get NaN as weights.
    """
    if mask is not None and mask.dtype != query.dtype:
        mask = mask.clamp(min=torch.finfo(query.dtype).min).to(query.dtype)
    if not (query.requires_grad and query.device.type == "cpu") or more.get("position_bias") is not None:
        arguments: dict[str, Any] = {"scaling": scaling, "dropout": dropout, **more}
        return sdpa_attention_forward(module, query, key, value, mask, **arguments)  # type: ignore[no-any-return]
    with torch.autocast("cpu", enabled=False):  # autocast would compute the softmax in 32 bits, copying it twice
        scale = query.shape[-1] ** -0.5 if scaling is None else scaling
        scores = (query * scale) @ key.mT  # (texts, heads, tokens, tokens)
        weights = (scores if mask is None else scores + mask).softmax(-1)
        attended = drop(weights, dropout) @ value if dropout else weights @ value
    return attended.transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, attention)
AttentionMaskInterface.register(NAME, eager_mask)  # for the model's own forward pass, which would ignore padding
