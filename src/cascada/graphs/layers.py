"""The layers of every type of encoder as ONNX operators: what they share is computed once in a graph."""

from __future__ import annotations

from typing import cast

import numpy as np

from cascada.encoders.weights import Layer, RankerWeights, RotaryLayer
from cascada.graphs import disentangled, rotary
from cascada.graphs.graph import Graph
from cascada.graphs.products import Products
from cascada.graphs.transformer import layer_norm, places_of, run_layer


def run_layers(graph: Graph, weights: RankerWeights, states: str, first: int, last: int, products: Products) -> str:
    """The states after layers `first`+1 to `last`, (pairs, tokens, hidden)."""
    layers = weights.layers[first:last]
    if layers and isinstance(layers[0], RotaryLayer):
        return rotary.run_layers(graph, weights, layers, states, products)
    plain = cast(tuple[Layer, ...], layers)
    if weights.distances is not None:
        return disentangled.run_layers(graph, weights, plain, states, products)
    bias = position_bias(graph, weights, states)
    for layer in plain:
        states = run_layer(graph, layer, states, bias, weights, products)
    return states


def output(graph: Graph, weights: RankerWeights, states: str) -> str:
    """The states as a head reads them."""
    return states if weights.output_norm is None else layer_norm(graph, states, weights.output_norm)


def position_bias(graph: Graph, weights: RankerWeights, states: str) -> str:
    """MPNet's bias on the attention of every layer, (1, heads, tokens, tokens); "" for other encoders."""
    if weights.position_bias is None:
        return ""
    longest = (weights.position_bias.shape[1] + 1) // 2
    queries, keys = places_of(graph, states)
    distance = graph.op("Add", graph.op("Sub", keys, queries), graph.constant(np.array(longest - 1), np.int64))
    bias = graph.op("Gather", graph.constant(weights.position_bias), distance, axis=1)  # (heads, queries, keys)
    return str(graph.op("Unsqueeze", bias, graph.constant([0], np.int64)))
