"""The LSTM interaction as ONNX operators. Its products are always in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from torch import nn

from cascada.encoders.weights import Array, dense_of
from cascada.graphs.graph import Graph, WeightsFile, model_of
from cascada.graphs.products import Products
from cascada.graphs.transformer import dense_float32
from cascada.systems.decoupled.shape import READ_DOCUMENT

LOWEST = -1e9
"""The value of padding before a softmax or a maximum."""


def lstm_graph(
    interaction: nn.Module, hidden: int, name: str, products: Products, weights_file: WeightsFile
) -> onnx.ModelProto:
    """The graph of `LSTMInteraction.question` or `.document`, by its name: from `states` and `lengths` to `read`."""
    part: Any = interaction
    graph = Graph(weights_file)
    tokens, mask = _read(graph, part.lstm, hidden)
    read = _document(graph, part, tokens) if name == READ_DOCUMENT else _question(graph, part, tokens, mask, products)
    graph.rename(read, "read")
    value, shape = helper.make_tensor_value_info, ("texts", "tokens", hidden)
    inputs = [value("states", TensorProto.FLOAT, shape), value("lengths", TensorProto.INT32, ("texts",))]
    output = shape if name == READ_DOCUMENT else ("texts", 2, hidden)
    return model_of(graph, inputs, [value("read", TensorProto.FLOAT, output)])


def _document(graph: Graph, part: Any, tokens: str) -> str:
    left = dense_of(part.left)
    return str(graph.op("Add", graph.op("MatMul", tokens, graph.constant(left.weight)), graph.constant(left.bias)))


def _question(graph: Graph, part: Any, tokens: str, mask: str, products: Products) -> str:
    weights = graph.op("MatMul", tokens, graph.constant(dense_weight(part.attend)))  # (texts, tokens, 1)
    weights = graph.op("Softmax", graph.op("Where", mask, weights, graph.constant(LOWEST, np.float32)), axis=1)
    summed = graph.op("ReduceSum", graph.op("Mul", weights, tokens), graph.constant([1], np.int64), keepdims=0)
    compared = dense_float32(graph, summed, dense_of(part.right), products)
    both = (graph.op("Unsqueeze", vector, graph.constant([1], np.int64)) for vector in (summed, compared))
    return str(graph.op("Concat", *both, axis=1))


def _read(graph: Graph, lstm: nn.LSTM, hidden: int) -> tuple[str, str]:
    """The texts' tokens through the BiLSTM, (texts, tokens, hidden), and their mask (texts, tokens, 1)."""
    sequence = graph.op("Transpose", "states", perm=[1, 0, 2])  # (tokens, texts, hidden)
    shape = graph.constant([0, 0, hidden], np.int64)
    for layer in range(lstm.num_layers):
        inputs = (sequence, *(graph.constant(value) for value in _weights(lstm, layer)), "lengths")
        both = graph.op("LSTM", *inputs, hidden_size=lstm.hidden_size, direction="bidirectional")
        sequence = graph.op("Reshape", graph.op("Transpose", both, perm=[0, 2, 1, 3]), shape)
    tokens = graph.op("Gather", graph.op("Shape", "states"), graph.constant(np.array(1), np.int64))
    zero, one = graph.constant(np.array(0), np.int64), graph.constant(np.array(1), np.int64)
    ends = graph.op("Unsqueeze", graph.op("Cast", "lengths", to=TensorProto.INT64), graph.constant([1], np.int64))
    real = graph.op("Less", graph.op("Range", zero, tokens, one), ends)
    mask = graph.op("Unsqueeze", real, graph.constant([2], np.int64))
    return str(graph.op("Transpose", sequence, perm=[1, 0, 2])), str(mask)


def _weights(lstm: nn.LSTM, layer: int) -> tuple[Array, Array, Array]:
    """ONNX's W, R and B of one layer, for both directions."""
    arrays = []
    for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        own = (getattr(lstm, f"{kind}_l{layer}{direction}") for direction in ("", "_reverse"))
        arrays.append(np.stack([_gates(weight.detach().cpu().numpy()) for weight in own]))
    return arrays[0], arrays[1], np.concatenate(arrays[2:], 1)


def _gates(weight: Array) -> Array:
    """Reorder the gates: torch has input, forget, cell, output; ONNX has input, output, forget, cell."""
    entry, forget, cell, out = np.split(weight, 4)
    return np.concatenate((entry, out, forget, cell))


def dense_weight(part: Any) -> Array:
    """The weight (in, out) of a layer without bias."""
    return np.ascontiguousarray(part.weight.detach().cpu().numpy().T)
