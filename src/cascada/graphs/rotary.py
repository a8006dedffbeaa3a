"""ModernBERT's layers as ONNX operators: rotary positions, attention to a window, gated feed-forward layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cascada.encoders.weights import RankerWeights, RotaryLayer
from cascada.graphs.graph import FUSED, Graph
from cascada.graphs.products import Products
from cascada.graphs.transformer import layer_norm, places_of

UNSEEN = -1e4
"""Added to the attention score of a token outside of the window."""

ACTIVATIONS = {"gelu": "Gelu", "gelu_new": "FastGelu", "relu": "Relu"}


def run_layers(
    graph: Graph, weights: RankerWeights, layers: Sequence[RotaryLayer], states: str, products: Products
) -> str:
    """The states after some layers, (pairs, tokens, hidden)."""
    queries, keys = places_of(graph, states)
    windows = {layer.window for layer in layers if layer.window is not None}
    biases = {window: window_bias(graph, queries, keys, window) for window in windows}
    start = graph.constant([0], np.int64)
    for layer in layers:
        bias = "" if layer.window is None else biases[layer.window]
        attended = attention(graph, layer, states, start, bias, weights.attention_heads, products)
        states = graph.op("Add", states, products.dense(graph, attended, layer.out))
        states = graph.op("Add", states, gated(graph, layer, states, weights.activation, products))
    return states


def window_bias(graph: Graph, queries: str, keys: str, window: int) -> str:
    """The bias on attention that hides tokens outside of the window, (1, 1, tokens, tokens)."""
    distance = graph.op("Abs", graph.op("Sub", queries, keys))
    far = graph.op("Greater", distance, graph.constant(np.array(window), np.int64))
    hidden = graph.op("Where", far, graph.constant(UNSEEN, np.float32), graph.constant(0.0, np.float32))
    return str(graph.op("Unsqueeze", hidden, graph.constant([0, 1], np.int64)))


def attention(
    graph: Graph, layer: RotaryLayer, states: str, start: str, bias: str, heads: int, products: Products
) -> str:
    """Attention with rotated queries and keys, without the dense layer of its output; positions begin at `start`."""
    normed = states if layer.attention_norm is None else layer_norm(graph, states, layer.attention_norm)
    query, key, value = graph.op("Split", products.dense(graph, normed, layer.query_key_value), axis=-1, results=3)
    tables = [graph.constant(table) for table in layer.rotations]
    query, key = (graph.fused("RotaryEmbedding", side, start, *tables, num_heads=heads) for side in (query, key))
    inputs = (query, key, value, "", "lengths", *((bias,) if bias else ()))
    return str(graph.fused("MultiHeadAttention", *inputs, num_heads=heads))


def gated(graph: Graph, layer: RotaryLayer, states: str, activation: str, products: Products) -> str:
    """The gated feed-forward layer, GeGLU."""
    wide = products.dense(graph, layer_norm(graph, states, layer.norm), layer.up)
    inner, gate = graph.op("Split", wide, axis=-1, results=2)
    active = graph.op(ACTIVATIONS[activation], inner, domain="" if activation == "relu" else FUSED)
    return products.dense(graph, graph.op("Mul", active, gate), layer.down)
