"""How a graph computes its matrix products: in float32, in int8, or in float32 from dequantised int8 weights."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.encoders.weights import Array, Dense
from cascada.graphs.piece_vectors import quantised_rows


class Products(Protocol):
    """The operators that differ between precisions; `graph` is a `cascada.graphs.graph.Graph`."""

    kept: Literal["float32", "float16"]
    """The type of the hidden states between graphs."""

    def rows(self, graph: Any, table: Array, ids: str) -> str:
        """The rows of a table, by id."""
        ...

    def dense(self, graph: Any, states: str, dense: Dense, activation: str = "") -> str:
        """A dense layer with its activation."""
        ...

    def weight(self, graph: Any, weight: Array) -> str:
        """A weight of a product that is always in float32, such as that of a head."""
        ...

    def attention(self, graph: Any, states: str, dense: Dense, heads: int, bias: str) -> str:
        """Multi-head self-attention, without the dense layer of its output."""
        ...


class Float32:
    """All products in float32, as in training."""

    kept: Literal["float32", "float16"] = "float32"

    def rows(self, graph: Any, table: Array, ids: str) -> str:
        return str(graph.op("Gather", graph.constant(table), ids))

    def dense(self, graph: Any, states: str, dense: Dense, activation: str = "") -> str:
        product = graph.op("MatMul", states, graph.constant(dense.weight))
        return activated(graph, product, dense.bias, activation)

    def weight(self, graph: Any, weight: Array) -> str:
        return str(graph.constant(weight))

    def attention(self, graph: Any, states: str, dense: Dense, heads: int, bias: str) -> str:
        weight, own_bias = graph.constant(dense.weight), graph.constant(dense.bias)
        inputs = (states, weight, own_bias, "lengths", *(("", bias) if bias else ()))
        return str(graph.fused("Attention", *inputs, num_heads=heads))


class Int8:
    """int8 weights with a scale per column; inputs are quantised with the range that was recorded for them.

    Weights are quantised to ±64, because processors without VNNI add two products in 16 bits, which would overflow.
    """

    kept: Literal["float32", "float16"] = "float16"

    def rows(self, graph: Any, table: Array, ids: str) -> str:
        """Rows are quantised to ±127 with a scale each: they are dequantised before they are multiplied."""
        rounded, scale = quantised_rows(table)
        chosen = graph.op("Cast", graph.op("Gather", graph.constant(rounded), ids), to=1)
        return str(graph.op("Mul", chosen, graph.op("Gather", graph.constant(scale), ids)))

    def dense(self, graph: Any, states: str, dense: Dense, activation: str = "") -> str:
        rounded, scale = self._rounded(dense.weight)
        weight, scales = graph.constant(rounded), graph.constant(scale)
        values, value_scale, zero = self._values(graph, states, dense.input_range)
        zeros = graph.constant(np.zeros(len(scale), np.int8))
        product = graph.fused("MatMulIntegerToFloat", values, weight, value_scale, scales, zero, zeros)
        return activated(graph, product, dense.bias, activation)

    def weight(self, graph: Any, weight: Array) -> str:
        """Quantised to ±127; the runtime dequantises it once, when it loads the graph."""
        return dequantised(graph, *quantised(weight, 127))

    def attention(self, graph: Any, states: str, dense: Dense, heads: int, bias: str) -> str:
        rounded, scale = self._rounded(dense.weight)
        if bias:  # the runtime's int8 attention has no bias
            return self._biased_attention(graph, states, dense, heads, bias)
        values, value_scale, zero = self._values(graph, states, dense.input_range)
        weight, scales = graph.constant(rounded), graph.constant(scale)
        zeros = graph.constant(np.zeros(len(scale), np.int8))
        own_bias = graph.constant(dense.bias)
        inputs = (values, weight, own_bias, value_scale, scales, "lengths", zero, zeros)
        return str(graph.fused("QAttention", *inputs, num_heads=heads))

    def _biased_attention(self, graph: Any, states: str, dense: Dense, heads: int, bias: str) -> str:
        projected = self.dense(graph, states, dense)
        query, key, value = graph.op("Split", projected, axis=-1, results=3)
        inputs = (query, key, value, "", "lengths", bias)
        return str(graph.fused("MultiHeadAttention", *inputs, num_heads=heads))

    def _values(self, graph: Any, states: str, input_range: tuple[float, float] | None) -> tuple[str, str, str]:
        """Quantised states, their scale and zero point: by the recorded range, else by the range of the batch."""
        if input_range is None:
            values, scale, zero = graph.op("DynamicQuantizeLinear", states, results=3)
            return values, scale, zero
        step = max(input_range[1] - input_range[0], 1e-12) / 255
        scale = graph.constant(np.array(step), np.float32)
        zero = graph.constant(np.array(np.clip(round(-input_range[0] / step), 0, 255)), np.uint8)
        return str(graph.op("QuantizeLinear", states, scale, zero)), scale, zero

    def _rounded(self, weight: Array) -> tuple[NDArray[np.int8], Array]:
        return quantised(weight, 64)


class Dequantised(Int8):
    """The weights of `Int8`, multiplied in float32: for machines on which int8 products crash.

    The runtime dequantises them once, when it loads the graph.
    """

    def dense(self, graph: Any, states: str, dense: Dense, activation: str = "") -> str:
        product = graph.op("MatMul", states, self._dequantised(graph, dense))
        return activated(graph, product, dense.bias, activation)

    def attention(self, graph: Any, states: str, dense: Dense, heads: int, bias: str) -> str:
        inputs = (states, self._dequantised(graph, dense), graph.constant(dense.bias), "lengths")
        return str(graph.fused("Attention", *inputs, *(("", bias) if bias else ()), num_heads=heads))

    def _dequantised(self, graph: Any, dense: Dense) -> str:
        return dequantised(graph, *self._rounded(dense.weight))


def quantised(weight: Array, largest: int) -> tuple[NDArray[np.int8], Array]:
    """The weight as integers within ±`largest`, and the scale of each column."""
    scale = np.maximum(np.abs(weight).max(0), 1e-12) / largest
    return np.round(weight / scale).astype(np.int8), scale.astype(np.float32)


def dequantised(graph: Any, rounded: NDArray[np.int8], scale: Array) -> str:
    """An int8 weight as float32."""
    return str(graph.op("Mul", graph.op("Cast", graph.constant(rounded), to=1), graph.constant(scale)))


def activated(graph: Any, product: str, bias: Array, activation: str) -> str:
    """Add the bias to a product, and apply the activation."""
    if not activation and not bias.any():
        return product
    own_bias = graph.constant(bias)
    if activation == "gelu":
        return str(graph.fused("BiasGelu", product, own_bias))
    if activation == "gelu_new":
        return str(graph.fused("FastGelu", product, own_bias))
    added = graph.op("Add", product, own_bias)
    return str(graph.op("Relu", added) if activation == "relu" else added)
