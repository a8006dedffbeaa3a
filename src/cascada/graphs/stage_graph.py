"""The graphs of an encoder's stages: some layers, and the head on them; `graph.py` describes inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from cascada.encoders.weights import RankerWeights
from cascada.graphs.graph import TYPES, Graph, WeightsFile, model_of
from cascada.graphs.layers import output, run_layers
from cascada.graphs.products import Products
from cascada.graphs.session import stage_file
from cascada.graphs.transformer import embed, head

OwnHead = Callable[[Graph, str, Products, int], str]
"""From a graph, its states, its products and an exit to the scores (pairs,) there."""


def write_stage_graphs(
    folder: Path,
    weights: RankerWeights,
    exits: Sequence[int],
    products: Products,
    weights_file: WeightsFile,
    *,
    safe: bool,
    own_head: OwnHead | None = None,
) -> None:
    """Write a graph for each exit, from the embeddings or the exit before; `safe` is part of the files' names."""
    for first, exit in zip((0, *exits), exits, strict=False):
        last = exit == exits[-1]
        graph = _stage_graph(weights, first, exit, products, weights_file, last=last, own_head=own_head)
        (folder / stage_file(exit, safe=safe)).write_bytes(graph.SerializeToString())


def _stage_graph(
    weights: RankerWeights,
    first: int,
    exit: int,
    products: Products,
    weights_file: WeightsFile,
    *,
    last: bool,
    own_head: OwnHead | None = None,
) -> onnx.ModelProto:
    """The graph of layers `first`+1 to `exit` and the head on them: the one in `weights`, or `own_head`."""
    kept = products.kept
    graph = Graph(weights_file)
    if first == 0:
        states = embed(graph, weights.embeddings, products)
    else:
        states = "states" if kept == "float32" else graph.op("Cast", "states", to=TensorProto.FLOAT)
    states = run_layers(graph, weights, states, first, exit, products)
    read = output(graph, weights, states)
    scores = own_head(graph, read, products, exit) if own_head else head(graph, weights.heads[exit], read, products)
    graph.rename(scores, "scores")
    if not last:
        states = states if kept == "float32" else graph.op("Cast", states, to=TensorProto.FLOAT16)
        graph.rename(states, "states_out")
    return _model(graph, weights, first, last=last, kept=TYPES[kept])


def _model(graph: Graph, weights: RankerWeights, first: int, *, last: bool, kept: int) -> onnx.ModelProto:
    states = ("pairs", "tokens", weights.hidden)
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
