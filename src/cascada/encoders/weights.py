"""A ranker's weights as plain arrays, under the same names whatever encoder they come from."""

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


@dataclass(frozen=True)
class Dense:
    """A dense layer."""

    weight: Array  # (in, out)
    bias: Array  # (out,)
    input_range: tuple[float, float] | None = None
    """The least and the largest number that it is given, where that was watched."""


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
    """What is added up before the first layer."""

    words: Array  # (vocabulary, width)
    positions: Array  # (longest, width): row 0 is the first token's
    types: Array | None  # (types, width)
    norm: Norm
    project: Dense | None  # (width, hidden)


@dataclass(frozen=True)
class RankerWeights:
    """All that a stage graph is made of."""

    embeddings: Embeddings
    layers: tuple[Layer, ...]
    heads: dict[int, tuple[Dense, ...]]
    """Exit → its dense layers; the last one gives the score itself, right minus wrong."""
    attention_heads: int
    activation: str
    position_bias: Array | None
    """MPNet's: (heads, distances), for key minus query from -(longest-1) to longest-1."""


def encoder_weights(
    encoder: StagedEncoder, layers: Iterable[nn.Module], heads: dict[int, tuple[Dense, ...]], *, longest: int
) -> RankerWeights:
    """Layers that are the encoder's, or like them, for texts of up to `longest` tokens."""
    config = encoder.config
    activation = activation_of(config)
    if activation not in ACTIVATIONS:
        raise CascadaError(f"The encoder's activation is {activation}; those that export are {', '.join(ACTIVATIONS)}.")
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
    three = [dense_of(part[name]) for name in ("query", "key", "value")]
    return Layer(
        query_key_value=Dense(
            np.concatenate([one.weight for one in three], 1),
            np.concatenate([one.bias for one in three]),
            three[0].input_range,
        ),
        out=dense_of(part["out"]),
        attention_norm=_norm(part["attention_norm"]),
        up=dense_of(part["up"]),
        down=dense_of(part["down"]),
        norm=_norm(part["norm"]),
    )


def head_of(head: nn.Module) -> tuple[Dense, ...]:
    """A head's dense layers, the last of which gives right minus wrong."""
    *inner, out = (dense_of(part) for part in head.modules() if isinstance(part, nn.Linear))
    score = Dense(out.weight[:, 1:] - out.weight[:, :1], out.bias[1:] - out.bias[:1])
    return (*inner, score)


def _position_bias(encoder: StagedEncoder) -> Array:
    """Only how far two tokens are apart counts, so that the last row and the first one hold all of it."""
    stack: Any = encoder.encoder.encoder
    with torch.no_grad():
        bias = stack.compute_position_bias(torch.zeros(1, encoder.longest, 1))  # (1, heads, queries, keys)
    row, column = bias[0, :, -1, :], bias[0, :, 0, 1:]  # key minus query: up to 0, and above
    return _array(torch.cat((row, column), -1))


def dense_of(part: Any) -> Dense:
    """A torch layer's weights, with its input_range if it was watched."""
    return Dense(np.ascontiguousarray(_array(part.weight).T), _array(part.bias), getattr(part, "input_range", None))


def _norm(part: Any) -> Norm:
    return Norm(_array(part.weight), _array(part.bias), float(part.eps))


def _array(weight: Any) -> Array:
    return weight.detach().cpu().numpy().astype(np.float32)  # type: ignore[no-any-return]
