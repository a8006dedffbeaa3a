"""The LSTM interaction as ONNX operators. Its products are always in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto
from torch import nn

from cascada.encoders.weights import Array, dense_of
from cascada.graphs.graph import Graph
from cascada.graphs.products import Products
from cascada.graphs.transformer import dense_float32

LOWEST = -1e9
"""The value of padding before a softmax or a maximum."""


def lstm_features(graph: Graph, interaction: nn.Module, states: str, hidden: int, products: Products) -> str:
    """The features of `LSTMInteraction`: the question's vector and the largest values, (pairs, 2 · hidden)."""
    part: Any = interaction
    zeros = graph.op("Sub", "second", "second")
    asked, question_mask = _side(graph, part.lstm, states, zeros, "second", hidden)
    document_length = graph.op("Sub", "lengths", "second")
    document, document_mask = _side(graph, part.lstm, states, "second", document_length, hidden)
    weights = graph.op("MatMul", asked, graph.constant(dense_weight(part.attend)))  # (pairs, tokens, 1)
    weights = graph.op("Softmax", graph.op("Where", question_mask, weights, graph.constant(LOWEST, np.float32)), axis=1)
    question = graph.op("ReduceSum", graph.op("Mul", weights, asked), graph.constant([1], np.int64), keepdims=0)
    left, right = dense_of(part.left), dense_float32(graph, question, dense_of(part.right), products)
    document = graph.op("Add", graph.op("MatMul", document, graph.constant(left.weight)), graph.constant(left.bias))
    compared = graph.op("Mul", document, graph.op("Unsqueeze", right, graph.constant([1], np.int64)))
    masked = graph.op("Where", document_mask, compared, graph.constant(LOWEST, np.float32))
    best = graph.op("ReduceMax", masked, axes=[1], keepdims=0)
    return str(graph.op("Concat", question, best, axis=-1))


def _side(graph: Graph, lstm: nn.LSTM, states: str, begins: str, lengths: str, hidden: int) -> tuple[str, str]:
    """One side's tokens through the BiLSTM, (pairs, tokens, hidden), and their mask (pairs, tokens, 1)."""
    tokens = graph.op("Gather", graph.op("Shape", states), graph.constant(np.array(1), np.int64))
    zero, one = graph.constant(np.array(0), np.int64), graph.constant(np.array(1), np.int64)
    places = graph.op("Range", zero, tokens, one)
    begins = graph.op("Unsqueeze", graph.op("Cast", begins, to=TensorProto.INT64), graph.constant([1], np.int64))
    index = graph.op("Min", graph.op("Add", begins, places), graph.op("Sub", tokens, one))  # (pairs, tokens)
    index = graph.op("Unsqueeze", index, graph.constant([2], np.int64))
    own = graph.op("GatherND", states, index, batch_dims=1)
    sequence = graph.op("Transpose", own, perm=[1, 0, 2])  # (tokens, pairs, hidden)
    shape = graph.constant([0, 0, hidden], np.int64)
    for layer in range(lstm.num_layers):
        inputs = (sequence, *(graph.constant(value) for value in _weights(lstm, layer)), lengths)
        both = graph.op("LSTM", *inputs, hidden_size=lstm.hidden_size, direction="bidirectional")
        sequence = graph.op("Reshape", graph.op("Transpose", both, perm=[0, 2, 1, 3]), shape)
    ends = graph.op("Unsqueeze", graph.op("Cast", lengths, to=TensorProto.INT64), graph.constant([1], np.int64))
    mask = graph.op("Unsqueeze", graph.op("Less", places, ends), graph.constant([2], np.int64))
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
