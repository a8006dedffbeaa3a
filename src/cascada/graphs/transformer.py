"""The parts of a transformer ranker as ONNX operators: embeddings, layers, heads. Functions return an output's name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from cascada.encoders.weights import Dense, Embeddings, Layer, Norm, RankerWeights
from cascada.graphs.graph import Graph
from cascada.graphs.products import Products


def embed(graph: Graph, embeddings: Embeddings, products: Products) -> str:
    """The states before the first layer, (pairs, tokens, hidden)."""
    states = products.rows(graph, embeddings.words, "ids")
    if embeddings.positions is not None:
        length = graph.op("Gather", graph.op("Shape", "ids"), graph.constant([1], np.int64))
        start, axis = graph.constant([0], np.int64), graph.constant([0], np.int64)
        positions = graph.op("Slice", graph.constant(embeddings.positions), start, length, axis)
        states = graph.op("Add", states, positions)
    if embeddings.types is not None:
        states = graph.op("Add", states, graph.op("Gather", graph.constant(embeddings.types), "types"))
    states = layer_norm(graph, states, embeddings.norm)
    if embeddings.project is not None:
        states = products.dense(graph, states, embeddings.project)
    return states


def run_layer(graph: Graph, layer: Layer, states: str, bias: str, weights: RankerWeights, products: Products) -> str:
    """The states after a layer, (pairs, tokens, hidden); `bias` is added to attention scores, "" for none."""
    attended = products.attention(graph, states, layer.query_key_value, weights.attention_heads, bias)
    return after_attention(graph, layer, attended, states, weights, products)


def after_attention(
    graph: Graph, layer: Layer, attended: str, states: str, weights: RankerWeights, products: Products
) -> str:
    """The rest of a layer, from the output projection of its attention to the norm of its feed-forward layer."""
    attended = products.dense(graph, attended, layer.out)
    states = skip_norm(graph, attended, states, layer.attention_norm)
    wide = products.dense(graph, states, layer.up, activation=weights.activation)
    return skip_norm(graph, products.dense(graph, wide, layer.down), states, layer.norm)


def head(graph: Graph, layers: Sequence[Dense], states: str, products: Products) -> str:
    """The scores of a head (pairs,): a single dense layer is TANDA's, on the first token; several are on the mean."""
    *inner, out = layers
    pooled = mean_of_tokens(graph, states) if inner else graph.op("Tanh", first_token(graph, states))
    for layer in inner:
        pooled = graph.op("Tanh", dense_float32(graph, pooled, layer, products))
    return str(graph.op("Squeeze", dense_float32(graph, pooled, out, products), graph.constant([1], np.int64)))


def mean_of_tokens(graph: Graph, states: str) -> str:
    tokens = graph.op("Gather", graph.op("Shape", states), graph.constant(np.array(1), np.int64))
    zero, one = graph.constant(np.array(0), np.int64), graph.constant(np.array(1), np.int64)
    places = graph.op("Cast", graph.op("Range", zero, tokens, one), to=TensorProto.INT32)  # (tokens,)
    lengths = graph.op("Unsqueeze", "lengths", graph.constant([1], np.int64))  # (pairs, 1)
    real = graph.op("Cast", graph.op("Less", places, lengths), to=TensorProto.FLOAT)  # (pairs, tokens)
    shares = graph.op("Div", real, graph.op("Cast", lengths, to=TensorProto.FLOAT))
    mean = graph.op("MatMul", graph.op("Unsqueeze", shares, graph.constant([1], np.int64)), states)
    return str(graph.op("Squeeze", mean, graph.constant([1], np.int64)))  # (pairs, hidden)


def first_token(graph: Graph, states: str) -> str:
    return str(graph.op("Gather", states, graph.constant(np.array(0), np.int64), axis=1))


def dense_float32(graph: Graph, value: str, dense: Dense, products: Products) -> str:
    """A dense layer whose product is always in float32, such as those of a head."""
    return str(graph.op("Gemm", value, products.weight(graph, dense.weight), graph.constant(dense.bias)))


def dense_tokens_float32(graph: Graph, states: str, dense: Dense, products: Products) -> str:
    """`dense_float32` for every token of states (texts, tokens, width)."""
    product = graph.op("MatMul", states, products.weight(graph, dense.weight))
    return str(graph.op("Add", product, graph.constant(dense.bias)))


def layer_norm(graph: Graph, states: str, norm: Norm) -> str:
    gamma, beta = graph.constant(norm.gamma), graph.constant(norm.beta)
    return str(graph.op("LayerNormalization", states, gamma, beta, axis=-1, epsilon=norm.epsilon))


def skip_norm(graph: Graph, new: str, states: str, norm: Norm) -> str:
    """Layer norm of the residual sum `new` + `states`."""
    gamma, beta = graph.constant(norm.gamma), graph.constant(norm.beta)
    return str(graph.fused("SkipLayerNormalization", new, states, gamma, beta, epsilon=norm.epsilon))


def places_of(graph: Graph, states: str) -> tuple[str, str]:
    """The positions of the tokens of some states as queries, (tokens, 1), and as keys, (1, tokens)."""
    tokens = graph.op("Gather", graph.op("Shape", states), graph.constant(np.array(1), np.int64))
    zero, one = graph.constant(np.array(0), np.int64), graph.constant(np.array(1), np.int64)
    places = graph.op("Range", zero, tokens, one)
    queries, keys = (graph.op("Unsqueeze", places, graph.constant([axis], np.int64)) for axis in (1, 0))
    return str(queries), str(keys)
