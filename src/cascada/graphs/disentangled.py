"""DeBERTa's layers as ONNX operators: attention to tokens, and to the distances between them.

The score of a query and a key is

    s(i, j) = (q_i · k_j + q_i · K[i - j] + k_j · Q[i - j]) · scale

where K and Q have a row for every distance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cascada.encoders.weights import Array, Disentangled, Layer, RankerWeights
from cascada.graphs.graph import Graph
from cascada.graphs.products import Products
from cascada.graphs.transformer import after_attention


def run_layers(graph: Graph, weights: RankerWeights, layers: Sequence[Layer], states: str, products: Products) -> str:
    """The states after some layers, (pairs, tokens, hidden)."""
    rows = distance_rows(graph, weights, states)
    for layer in layers:
        assert layer.disentangled is not None
        projected = products.dense(graph, states, layer.query_key_value)
        query, key, value = graph.op("Split", projected, axis=-1, results=3)
        bias = distance_scores(graph, layer.disentangled, query, key, rows, weights.attention_heads, products)
        inputs = (query, key, value, "", "lengths", *((bias,) if bias else ()))
        scale, heads = layer.disentangled.scale, weights.attention_heads
        attended = graph.fused("MultiHeadAttention", *inputs, num_heads=heads, scale=scale)
        states = after_attention(graph, layer, attended, states, weights, products)
    return states


def distance_rows(graph: Graph, weights: RankerWeights, states: str) -> str:
    """The rows of the tables for the distances from -(tokens - 1) to tokens - 1."""
    assert weights.distances is not None
    longest = (len(weights.distances) + 1) // 2
    tokens = graph.op("Gather", graph.op("Shape", states), graph.constant([1], np.int64))
    first = graph.op("Sub", graph.constant([longest], np.int64), tokens)
    end = graph.op("Add", graph.constant([longest - 1], np.int64), tokens)
    return str(graph.op("Slice", graph.constant(weights.distances), first, end, graph.constant([0], np.int64)))


def distance_scores(
    graph: Graph, tables: Disentangled, query: str, key: str, rows: str, heads: int, products: Products
) -> str:
    """The last two terms of the score, (pairs, heads, tokens, tokens); "" if there are no tables."""
    terms = []
    if tables.keys is not None:  # the columns of a row must be in the order of keys, which is that of falling i - j
        backwards = graph.constant([-1], np.int64), graph.constant([-(2**62)], np.int64)
        axis, step = graph.constant([0], np.int64), graph.constant([-1], np.int64)
        falling = graph.op("Slice", rows, *backwards, axis, step)
        terms.append(by_place(graph, compared(graph, query, tables.keys, falling, heads, products)))
    if tables.queries is not None:
        own = by_place(graph, compared(graph, key, tables.queries, rows, heads, products))  # a row per key
        terms.append(graph.op("Transpose", own, perm=[0, 1, 3, 2]))
    if not terms:
        return ""
    total = terms[0] if len(terms) == 1 else graph.op("Add", *terms)
    return str(graph.op("Mul", total, graph.constant(tables.scale, np.float32)))


def compared(graph: Graph, side: str, table: Array, rows: str, heads: int, products: Products) -> str:
    """The products of every token with some rows of a table, (pairs, heads, tokens, rows)."""
    size = table.shape[1] // heads
    by_head = graph.op("Reshape", side, graph.constant([0, 0, heads, size], np.int64))
    vectors = graph.op("Gather", products.weight(graph, table), rows)
    vectors = graph.op("Reshape", vectors, graph.constant([-1, heads, size], np.int64))
    vectors = graph.op("Transpose", vectors, perm=[1, 2, 0])  # (heads, size, rows)
    return str(graph.op("MatMul", graph.op("Transpose", by_head, perm=[0, 2, 1, 3]), vectors))


def by_place(graph: Graph, scores: str) -> str:
    """Relative shift: from scores by distance, (…, n, 2n - 1), to scores by position, (…, n, n).

    Row i needs its columns from n - 1 - i on. If the first n - 1 of all values are left out, and the others are cut
    into rows of 2n - 2 values, each row begins there.
    """
    one, axis = graph.constant([1], np.int64), graph.constant([2], np.int64)
    tokens = graph.op("Gather", graph.op("Shape", scores), axis)
    flat = graph.op("Reshape", scores, graph.constant([0, 0, -1], np.int64))
    width = graph.op("Sub", graph.op("Add", tokens, tokens), graph.constant([2], np.int64))
    start = graph.op("Sub", tokens, one)
    end = graph.op("Add", start, graph.op("Mul", tokens, width))
    shape = graph.op("Concat", graph.constant([0, 0], np.int64), tokens, width, axis=0)
    rows = graph.op("Reshape", graph.op("Slice", flat, start, end, axis), shape)
    return str(graph.op("Slice", rows, graph.constant([0], np.int64), tokens, graph.constant([3], np.int64)))
