"""The weights of an encoder and of heads as arrays, under common names for all types of encoders.

`extract.py` takes them out of torch's modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Ints = NDArray[np.int64]


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
    disentangled: Disentangled | None = None


@dataclass(frozen=True)
class Disentangled:
    """What DeBERTa's attention adds to a layer: queries and keys of distances, projected from their embeddings."""

    scale: float
    """Of all attention scores."""
    keys: Array | None  # (distances, hidden): the tokens' queries are compared with these
    queries: Array | None  # (distances, hidden): the tokens' keys are compared with these


@dataclass(frozen=True)
class RotaryLayer:
    """A layer of ModernBERT: norms come first, queries and keys are rotated, and the feed-forward layer is gated."""

    attention_norm: Norm | None  # the first layer has none
    query_key_value: Dense  # (hidden, 3 · hidden)
    out: Dense
    norm: Norm
    up: Dense  # (hidden, 2 · inner): what is activated, and what it is multiplied by
    down: Dense
    rotations: tuple[Array, Array]  # cosines and sines, each (longest, half a head)
    window: int | None
    """How far a token sees to either side; None if it sees all."""


@dataclass(frozen=True)
class Embeddings:
    """The embeddings that are summed before the first layer."""

    words: Array  # (vocabulary, width)
    positions: Array | None  # (longest, width): row 0 is the first token's
    types: Array | None  # (types, width)
    norm: Norm
    project: Dense | None  # (width, hidden)


@dataclass(frozen=True)
class RankerWeights:
    """The weights that a stage graph is built from."""

    embeddings: Embeddings
    layers: tuple[Layer, ...] | tuple[RotaryLayer, ...]
    heads: dict[int, tuple[Dense, ...]]
    """Exit → the dense layers of its head; the last one gives the score, correct minus incorrect."""
    attention_heads: int
    activation: str
    position_bias: Array | None
    """MPNet's relative positions: (heads, distances), for key minus query from -(longest-1) to longest-1."""
    distances: Ints | None = None
    """DeBERTa's: the row in a layer's tables for query minus key, from -(longest-1) to longest-1."""
    output_norm: Norm | None = None
    """ModernBERT's norm of the states that a head reads."""

    @property
    def hidden(self) -> int:
        """The number of values of a token's state."""
        return len(self.layers[0].norm.gamma)


def dense_of(part: Any) -> Dense:
    """The weights of a torch layer, with its `input_range` if it was recorded."""
    weight = np.ascontiguousarray(array_of(part.weight).T)
    bias = np.zeros(weight.shape[1], np.float32) if part.bias is None else array_of(part.bias)
    return Dense(weight, bias, getattr(part, "input_range", None))


def norm_of(part: Any) -> Norm:
    """The weights of a layer norm, which may lack a bias."""
    gamma = array_of(part.weight)
    return Norm(gamma, np.zeros_like(gamma) if part.bias is None else array_of(part.bias), float(part.eps))


def array_of(weight: Any) -> Array:
    """A tensor as an array."""
    return weight.detach().cpu().numpy().astype(np.float32)  # type: ignore[no-any-return]
