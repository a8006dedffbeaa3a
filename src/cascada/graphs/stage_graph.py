"""The graph of a stage of an encoder: some layers, and the head on them; `graph.py` describes inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from onnx import TensorProto, helper

from cascada.encoders.weights import RankerWeights
from cascada.graphs.graph import TYPES, Graph, WeightsFile, model_of
from cascada.graphs.products import Products
from cascada.graphs.transformer import embed, head, position_bias, run_layer

OwnHead = Callable[[Graph, str, Products], str]


def stage_graph(
    weights: RankerWeights,
    first: int,
    exit: int,
    *,
    last: bool,
    products: Products,
    kept: str = "float32",
    weights_file: WeightsFile | None = None,
    own_head: OwnHead | None = None,
) -> onnx.ModelProto:
    """The graph of layers `first`+1 to `exit` and the head on them; `kept` is the type of the states between graphs.

    The head is the one in `weights`, or `own_head`, from the graph, its states and its products to scores (pairs,).
    """
    graph = Graph(weights_file)
    if first == 0:
        states = embed(graph, weights.embeddings, products)
    else:
        states = "states" if kept == "float32" else graph.op("Cast", "states", to=TensorProto.FLOAT)
    bias = position_bias(graph, weights, states)
    for layer in weights.layers[first:exit]:
        states = run_layer(graph, layer, states, bias, weights, products)
    scores = own_head(graph, states, products) if own_head else head(graph, weights.heads[exit], states, products)
    graph.rename(scores, "scores")
    if not last:
        states = states if kept == "float32" else graph.op("Cast", states, to=TensorProto.FLOAT16)
        graph.rename(states, "states_out")
    return _model(graph, weights, first, last=last, kept=TYPES[kept])


def _model(graph: Graph, weights: RankerWeights, first: int, *, last: bool, kept: int) -> onnx.ModelProto:
    hidden = weights.layers[0].norm.gamma.shape[0]
    states = ("pairs", "tokens", hidden)
    value = helper.make_tensor_value_info
    inputs = [value("lengths", TensorProto.INT32, ("pairs",))]
    if first == 0:
        inputs += [value(name, TensorProto.INT32, ("pairs", "tokens")) for name in ("ids", "types")]
    else:
        inputs += [value("states", kept, states)]
    outputs = [value("scores", TensorProto.FLOAT, ("pairs",))]
    if not last:
        outputs += [value("states_out", kept, states)]
    return model_of(graph, inputs, outputs)
