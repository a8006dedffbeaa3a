"""A stage of a ranker as an ONNX graph, built from its weights operator by operator.

Nothing is traced: the graph has the operators that ONNX Runtime has fast kernels for, and no others.

| input | shape | |
|---|---|---|
| `ids`, `types` | (pairs, tokens) int32 | of the first stage |
| `states` | (pairs, tokens, hidden) | of the later ones: what the stage before gave |
| `lengths` | (pairs,) int32 | real tokens; what stands behind them is padding |

| output | shape | |
|---|---|---|
| `scores` | (pairs,) | right minus wrong |
| `states` → `states_out` | (pairs, tokens, hidden) | of all stages but the last |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from cascada.export.products import Products
from cascada.export.store import LARGE, Store
from cascada.export.weights import Dense, Embeddings, Layer, Norm, RankerWeights

FUSED = "com.microsoft"
"""The domain of the runtime's own operators."""

OPSET, FUSED_OPSET, IR = 17, 1, 8
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}


@dataclass
class Graph:
    """Nodes and constants; every operator gives the name of what it computes."""

    store: Store | None = None
    """Where large constants go; into the graph itself if there is none."""
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def op(self, kind: str, *inputs: str, domain: str = "", results: int = 1, **attributes: Any) -> Any:
        names = [f"{kind}_{len(self.nodes)}_{place}" for place in range(results)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if results == 1 else names

    def fused(self, kind: str, *inputs: str, **attributes: Any) -> Any:
        return self.op(kind, *inputs, domain=FUSED, **attributes)

    def constant(self, value: NDArray[Any] | Sequence[int] | float, dtype: Any = None) -> str:
        name, array = f"constant_{len(self.constants)}", np.array(value, dtype, order="C")
        outside = self.store is not None and array.nbytes >= LARGE
        self.constants[name] = self.store.add(array, name) if outside else numpy_helper.from_array(array, name)  # type: ignore[union-attr]
        return name

    def rename(self, old: str, new: str) -> None:
        for node in self.nodes:
            for names in (node.input, node.output):
                for place, name in enumerate(names):
                    if name == old:
                        names[place] = new


def stage_graph(
    weights: RankerWeights,
    first: int,
    exit: int,
    *,
    last: bool,
    products: Products,
    kept: str = "float32",
    store: Store | None = None,
) -> onnx.ModelProto:
    """Layers `first`+1 to `exit` and the head on them; `kept` is the type of states that come in and go out."""
    graph = Graph(store)
    if first == 0:
        states = embed(graph, weights.embeddings, products)
    else:
        states = "states" if kept == "float32" else graph.op("Cast", "states", to=TensorProto.FLOAT)
    bias = position_bias(graph, weights, states)
    for layer in weights.layers[first:exit]:
        states = run_layer(graph, layer, states, bias, weights, products)
    scores = head(graph, weights.heads[exit], states, products)
    graph.rename(scores, "scores")
    if not last:
        states = states if kept == "float32" else graph.op("Cast", states, to=TensorProto.FLOAT16)
        graph.rename(states, "states_out")
    return _model(graph, weights, first, last=last, kept=TYPES[kept])


def embed(graph: Graph, embeddings: Embeddings, products: Products) -> str:
    words = products.rows(graph, embeddings.words, "ids")
    length = graph.op("Gather", graph.op("Shape", "ids"), graph.constant([1], np.int64))
    start, axis = graph.constant([0], np.int64), graph.constant([0], np.int64)
    positions = graph.op("Slice", graph.constant(embeddings.positions), start, length, axis)
    states = graph.op("Add", words, positions)
    if embeddings.types is not None:
        states = graph.op("Add", states, graph.op("Gather", graph.constant(embeddings.types), "types"))
    states = layer_norm(graph, states, embeddings.norm)
    if embeddings.project is not None:
        states = products.dense(graph, states, embeddings.project)
    return states


def run_layer(graph: Graph, layer: Layer, states: str, bias: str, weights: RankerWeights, products: Products) -> str:
    attended = products.attention(graph, states, layer.query_key_value, weights.attention_heads, bias)
    attended = products.dense(graph, attended, layer.out)
    states = skip_norm(graph, attended, states, layer.attention_norm)
    wide = products.dense(graph, states, layer.up, activation=weights.activation)
    return skip_norm(graph, products.dense(graph, wide, layer.down), states, layer.norm)


def head(graph: Graph, layers: Sequence[Dense], states: str, products: Products) -> str:
    """One dense layer is TANDA's head, on the first token; several are the cascade's, on the mean."""
    *inner, out = layers
    pooled = mean_of_tokens(graph, states) if inner else graph.op("Tanh", first_token(graph, states))
    for layer in inner:
        pooled = graph.op("Tanh", plain(graph, pooled, layer, products))
    return str(graph.op("Squeeze", plain(graph, pooled, out, products), graph.constant([1], np.int64)))


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


def plain(graph: Graph, value: str, dense: Dense, products: Products) -> str:
    """A dense layer of a head: its product is in float32 always."""
    return str(graph.op("Gemm", value, products.weight(graph, dense.weight), graph.constant(dense.bias)))


def layer_norm(graph: Graph, states: str, norm: Norm) -> str:
    gamma, beta = graph.constant(norm.gamma), graph.constant(norm.beta)
    return str(graph.op("LayerNormalization", states, gamma, beta, axis=-1, epsilon=norm.epsilon))


def skip_norm(graph: Graph, new: str, states: str, norm: Norm) -> str:
    gamma, beta = graph.constant(norm.gamma), graph.constant(norm.beta)
    return str(graph.fused("SkipLayerNormalization", new, states, gamma, beta, epsilon=norm.epsilon))


def position_bias(graph: Graph, weights: RankerWeights, states: str) -> str:
    """What MPNet adds to the attention of every layer: (1, heads, tokens, tokens); "" for the others."""
    if weights.position_bias is None:
        return ""
    longest = (weights.position_bias.shape[1] + 1) // 2
    tokens = graph.op("Gather", graph.op("Shape", states), graph.constant(np.array(1), np.int64))
    zero, one = graph.constant(np.array(0), np.int64), graph.constant(np.array(1), np.int64)
    places = graph.op("Range", zero, tokens, one)
    keys = graph.op("Unsqueeze", places, graph.constant([0], np.int64))
    queries = graph.op("Unsqueeze", places, graph.constant([1], np.int64))
    distance = graph.op("Add", graph.op("Sub", keys, queries), graph.constant(np.array(longest - 1), np.int64))
    bias = graph.op("Gather", graph.constant(weights.position_bias), distance, axis=1)  # (heads, queries, keys)
    return str(graph.op("Unsqueeze", bias, graph.constant([0], np.int64)))


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


def model_of(graph: Graph, inputs: list[Any], outputs: list[Any]) -> onnx.ModelProto:
    """A whole model, with the operators that the runtime fuses."""
    made = helper.make_graph(graph.nodes, "stage", inputs, outputs, list(graph.constants.values()))
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, FUSED_OPSET)]
    return helper.make_model(made, opset_imports=versions, ir_version=IR, producer_name="cascada")
