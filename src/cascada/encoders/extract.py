"""The weights of an encoder in torch as arrays; `weights.py` says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.layers import activation_of, parts_of
from cascada.encoders.weights import (
    Array,
    Dense,
    Disentangled,
    Embeddings,
    Ints,
    Layer,
    RankerWeights,
    RotaryLayer,
    array_of,
    dense_of,
    norm_of,
)

ACTIVATIONS = ("gelu", "gelu_new", "relu")
"""Activation functions that can be exported."""


def encoder_weights(
    encoder: StagedEncoder, layers: Sequence[nn.Module], heads: dict[int, tuple[Dense, ...]], *, longest: int
) -> RankerWeights:
    """The weights of an encoder's embeddings, of `layers` of its type, and of `heads`; for up to `longest` tokens."""
    config = encoder.config
    activation = activation_of(config)
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise CascadaError(f"The encoder's activation is {activation}; those that can be exported are {known}.")
    stack: Any = encoder.encoder
    if config.model_type == "deberta-v2" and stack.encoder.conv is not None:
        raise CascadaError("DeBERTa-v2's convolution after the first layer cannot be exported: run it in torch.")
    return RankerWeights(
        embeddings=_embeddings(encoder, longest),
        layers=_layers(encoder, layers, longest),
        heads=heads,
        attention_heads=int(config.num_attention_heads),
        activation=activation,
        position_bias=_position_bias(encoder) if config.model_type == "mpnet" else None,
        distances=_distance_rows(encoder, longest) if config.model_type == "deberta-v2" else None,
        output_norm=norm_of(encoder.encoder.final_norm) if config.model_type == "modernbert" else None,
    )


def _layers(
    encoder: StagedEncoder, layers: Sequence[nn.Module], longest: int
) -> tuple[Layer, ...] | tuple[RotaryLayer, ...]:
    kind = str(encoder.config.model_type)
    if kind == "modernbert":
        return tuple(_rotary_layer(encoder, layer, longest) for layer in layers)
    own = tuple(_layer(layer, kind) for layer in layers)
    if kind != "deberta-v2":
        return own
    return tuple(
        replace(layer, disentangled=_disentangled(encoder, part)) for layer, part in zip(own, layers, strict=True)
    )


def _embeddings(staged: StagedEncoder, longest: int) -> Embeddings:
    encoder = staged.encoder
    own: Any = encoder.embeddings
    positions, project = staged.position_embeddings, staged.family.project
    types = getattr(own, "token_type_embeddings", None)
    return Embeddings(
        words=array_of(staged.word_embeddings),
        positions=None if positions is None else array_of(positions)[:longest],
        types=None if types is None else array_of(types.weight),
        norm=norm_of(own.norm if staged.config.model_type == "modernbert" else own.LayerNorm),
        project=None if project is None else dense_of(project),
    )


def _layer(layer: nn.Module, kind: str) -> Layer:
    part = parts_of(layer, kind)
    projections = [dense_of(part[name]) for name in ("query", "key", "value")]
    return Layer(
        query_key_value=Dense(
            np.concatenate([dense.weight for dense in projections], 1),
            np.concatenate([dense.bias for dense in projections]),
            projections[0].input_range,
        ),
        out=dense_of(part["out"]),
        attention_norm=norm_of(part["attention_norm"]),
        up=dense_of(part["up"]),
        down=dense_of(part["down"]),
        norm=norm_of(part["norm"]),
    )


def head_of(head: nn.Module) -> tuple[Dense, ...]:
    """The dense layers of a head; the last one gives the difference of the two logits, which is the score."""
    *inner, out = (dense_of(part) for part in head.modules() if isinstance(part, nn.Linear))
    score = Dense(out.weight[:, 1:] - out.weight[:, :1], out.bias[1:] - out.bias[:1])
    return (*inner, score)


def _position_bias(encoder: StagedEncoder) -> Array:
    """The bias depends on the distance of two tokens only, so its last and first rows contain all values."""
    stack: Any = encoder.encoder.encoder
    with torch.no_grad():
        bias = stack.compute_position_bias(torch.zeros(1, encoder.longest, 1))  # (1, heads, queries, keys)
    row, column = bias[0, :, -1, :], bias[0, :, 0, 1:]  # key minus query: up to 0, and above
    return array_of(torch.cat((row, column), -1))


def _rotary_layer(encoder: StagedEncoder, layer: Any, longest: int) -> RotaryLayer:
    kind, width = layer.attention_type, encoder.config.sliding_window
    with torch.no_grad():
        rotations = encoder.encoder.rotary_emb(torch.zeros(1), torch.arange(longest)[None], kind)  # type: ignore[operator]
    half = rotations[0].shape[-1] // 2  # both halves are equal
    cosines, sines = (np.ascontiguousarray(array_of(table[0, :, :half])) for table in rotations)
    return RotaryLayer(
        attention_norm=None if isinstance(layer.attn_norm, nn.Identity) else norm_of(layer.attn_norm),
        query_key_value=dense_of(layer.attn.Wqkv),
        out=dense_of(layer.attn.Wo),
        norm=norm_of(layer.mlp_norm),
        up=dense_of(layer.mlp.Wi),
        down=dense_of(layer.mlp.Wo),
        rotations=(cosines, sines),
        window=width if kind == "sliding_attention" else None,
    )


def _disentangled(encoder: StagedEncoder, layer: Any) -> Disentangled:
    """The layer's queries and keys of distances; without relative attention there are none."""
    attention, kinds = layer.attention.self, layer.attention.self.pos_att_type
    size = attention.attention_head_size * (1 + ("c2p" in kinds) + ("p2c" in kinds))
    keys = queries = None
    if attention.relative_attention:
        stack: Any = encoder.encoder.encoder
        names = ("key_proj", "query_proj") if attention.share_att_key else ("pos_key_proj", "pos_query_proj")
        with torch.no_grad():
            table = stack.get_rel_embedding()[: 2 * attention.pos_ebd_size]
            keys = array_of(getattr(attention, names[0])(table)) if "c2p" in kinds else None
            queries = array_of(getattr(attention, names[1])(table)) if "p2c" in kinds else None
    return Disentangled(size**-0.5, keys, queries)


def _distance_rows(encoder: StagedEncoder, longest: int) -> Ints:
    """The row in the tables of each distance; distant tokens share a row, and the last row has all beyond it."""
    stack: Any = encoder.encoder.encoder
    if not stack.relative_attention:
        return np.zeros(2 * longest - 1, np.int64)
    span = stack.layer[0].attention.self.pos_ebd_size
    distances = stack.get_rel_pos(torch.zeros(1, longest, 1))[0]  # (queries, keys): query minus key
    by_distance = torch.cat((distances[0].flip(0), distances[1:, 0]))  # from -(longest - 1) on
    return (by_distance + span).clamp(0, 2 * span - 1).numpy()  # type: ignore[no-any-return]
