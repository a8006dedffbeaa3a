"""The weights of an encoder and of heads as arrays, under common names for all types of encoders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.layers import activation_of, parts_of

Array = NDArray[np.float32]

ACTIVATIONS = ("gelu", "gelu_new", "relu")
"""Activation functions that can be exported."""


@dataclass(frozen=True)
class Dense:
    """A dense layer."""

    weight: Array  # (in, out)
    bias: Array  # (out,)
    input_range: tuple[float, float] | None = None
    """The quantisation range of its inputs, if it was recorded."""


@dataclass(frozen=True)
class Norm:
    """A layer norm."""

    gamma: Array
    beta: Array
    epsilon: float


@dataclass(frozen=True)
class Layer:
    """A transformer layer."""

    query_key_value: Dense  # (hidden, 3 · hidden)
    out: Dense
    attention_norm: Norm
    up: Dense
    down: Dense
    norm: Norm


@dataclass(frozen=True)
class Embeddings:
    """The embeddings that are summed before the first layer."""

    words: Array  # (vocabulary, width)
    positions: Array  # (longest, width): row 0 is the first token's
    types: Array | None  # (types, width)
    norm: Norm
    project: Dense | None  # (width, hidden)


@dataclass(frozen=True)
class RankerWeights:
    """The weights that a stage graph is built from."""

    embeddings: Embeddings
    layers: tuple[Layer, ...]
    heads: dict[int, tuple[Dense, ...]]
    """Exit → the dense layers of its head; the last one gives the score, correct minus incorrect."""
    attention_heads: int
    activation: str
    position_bias: Array | None
    """MPNet's relative positions: (heads, distances), for key minus query from -(longest-1) to longest-1."""


def encoder_weights(
    encoder: StagedEncoder, layers: Iterable[nn.Module], heads: dict[int, tuple[Dense, ...]], *, longest: int
) -> RankerWeights:
    """The weights of an encoder's embeddings, of `layers` of its type, and of `heads`; for up to `longest` tokens."""
    config = encoder.config
    activation = activation_of(config)
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise CascadaError(f"The encoder's activation is {activation}; those that can be exported are {known}.")
    return RankerWeights(
        embeddings=_embeddings(encoder, longest),
        layers=tuple(_layer(layer, str(config.model_type)) for layer in layers),
        heads=heads,
        attention_heads=int(config.num_attention_heads),
        activation=activation,
        position_bias=_position_bias(encoder) if config.model_type == "mpnet" else None,
    )


def _embeddings(staged: StagedEncoder, longest: int) -> Embeddings:
    encoder = staged.encoder
    own: Any = encoder.embeddings
    project = getattr(encoder, "embeddings_project", None)
    types = getattr(own, "token_type_embeddings", None)
    return Embeddings(
        words=_array(own.word_embeddings.weight),
        positions=_array(own.position_embeddings.weight)[staged.first_position :][:longest],
        types=None if types is None else _array(types.weight),
        norm=_norm(own.LayerNorm),
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
        attention_norm=_norm(part["attention_norm"]),
        up=dense_of(part["up"]),
        down=dense_of(part["down"]),
        norm=_norm(part["norm"]),
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
    return _array(torch.cat((row, column), -1))


def dense_of(part: Any) -> Dense:
    """The weights of a torch layer, with its `input_range` if it was recorded."""
    return Dense(np.ascontiguousarray(_array(part.weight).T), _array(part.bias), getattr(part, "input_range", None))


def _norm(part: Any) -> Norm:
    return Norm(_array(part.weight), _array(part.bias), float(part.eps))


def _array(weight: Any) -> Array:
    return weight.detach().cpu().numpy().astype(np.float32)  # type: ignore[no-any-return]
