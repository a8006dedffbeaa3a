"""The parts of a transformer layer under common names, and a layer computed for some of its tokens only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from transformers import PretrainedConfig
from transformers.activations import ACT2FN

PARTS = ("query", "key", "value", "out", "attention_norm", "up", "down", "norm")

# The names of `PARTS` in a layer of each type of encoder.
BERT = (
    *("attention.self.query", "attention.self.key", "attention.self.value"),
    *("attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"),
)
DISTILBERT = (
    *("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", "sa_layer_norm"),
    *("ffn.lin1", "ffn.lin2", "output_layer_norm"),
)
MPNET = (
    *("attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o", "attention.LayerNorm"),
    *("intermediate.dense", "output.dense", "output.LayerNorm"),
)
ALBERT = (
    *("attention.query", "attention.key", "attention.value", "attention.dense", "attention.LayerNorm"),
    *("ffn", "ffn_output", "full_layer_layer_norm"),
)
DEBERTA = tuple(
    name.replace("query", "query_proj").replace("key", "key_proj").replace("value", "value_proj") for name in BERT
)
NAMES = {"distilbert": DISTILBERT, "mpnet": MPNET, "albert": ALBERT, "deberta-v2": DEBERTA}


def parts_of(layer: nn.Module, kind: str) -> dict[str, nn.Module]:
    """The parts of a layer by their names in `PARTS`; `kind` is the encoder's `model_type`."""
    return {name: layer.get_submodule(path) for name, path in zip(PARTS, NAMES.get(kind, BERT), strict=True)}


def activation_of(config: PretrainedConfig) -> str:
    """The name of the encoder's activation function."""
    names = ("hidden_act", "hidden_activation", "activation")
    return str(next(value for name in names if (value := getattr(config, name, None))))


def some_rows(layer: nn.Module, config: PretrainedConfig, own: Tensor, states: Tensor, mask: Tensor | None) -> Tensor:
    """The output of a layer for some tokens, `own` (pairs, some, hidden), which attend to all of `states`.

    No token but these few is multiplied with a weight. `mask` is added to attention scores. Encoders with relative
    positions are not supported.
    """
    part: dict[str, Any] = parts_of(layer, str(config.model_type))
    attention_dropout, hidden_dropout = _dropouts(layer) if layer.training else (0.0, 0.0)
    heads = config.num_attention_heads
    attended = _attend(part, heads, own, states, mask, attention_dropout).flatten(2)
    own = part["attention_norm"](dropout(part["out"](attended), hidden_dropout) + own)
    inner = ACT2FN[activation_of(config)](part["up"](own))
    rows: Tensor = part["norm"](dropout(part["down"](inner), hidden_dropout) + own)
    return rows


def _attend(
    part: dict[str, Any], heads: int, own: Tensor, states: Tensor, mask: Tensor | None, attention_dropout: float
) -> Tensor:
    """Attention of `own` to `states`, (pairs, some, heads, size), without projecting every token to a key and a value.

    q·(Ks + b) is (qK)·s + q·b, and the weighted sum of values is the projection of the weighted sum of states. For a
    few rows this takes a fraction of the operations, and the backward pass keeps no keys and values.
    """
    key, key_bias, value, value_bias = (
        getattr(part[name], kind).unflatten(0, (heads, -1)) for name in ("key", "value") for kind in ("weight", "bias")
    )
    query = part["query"](own).unflatten(-1, (heads, -1))
    query = query * query.shape[-1] ** -0.5
    scores = torch.einsum("pshd,hdk->phsk", query, key).flatten(1, 2) @ states.transpose(1, 2)
    scores = scores + (query * key_bias).sum(-1).transpose(1, 2).flatten(1)[..., None]  # (pairs, heads · some, tokens)
    weights = dropout((scores if mask is None else scores + mask[:, 0]).softmax(-1), attention_dropout)
    summed = (weights @ states).reshape(len(own), heads, -1, states.shape[-1])  # (pairs, heads, some, hidden)
    share = weights.sum(-1).reshape(len(own), heads, -1, 1).transpose(1, 2)  # 1, except for dropout
    attended: Tensor = torch.einsum("phsk,hdk->pshd", summed, value) + share * value_bias
    return attended


def _dropouts(layer: nn.Module) -> tuple[float, float]:
    """The dropout of attention weights and that of hidden states: a layer has them in this order."""
    first, second, *_ = (part.p for part in layer.modules() if isinstance(part, nn.Dropout))
    return first, second
