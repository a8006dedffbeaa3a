"""Export a decoupled ranker as ONNX graphs: one for each side, and one for each exit above the join.

| graph | inputs | outputs |
|---|---|---|
| `question.onnx`, `document.onnx` | `ids`, `lengths` | `states_out` (texts, tokens, hidden or kept) |
| `document-12.onnx`, … | `states`, `lengths` | `states_out`: with exits below the join, the towers' next layers |
| `lstm-question.onnx`, `lstm-document.onnx` | `states`, `lengths` | `read`: what the LSTM computes of a side |
| `stage-7.onnx`, … | `states`, `lengths`, `second` | `scores`, and `states_out` except from the last graph |

`second` (pairs,) is the position of a document's first token; `cascada.graphs.graph` describes the others. With exits
below the join, the document tower has a graph for each part, and `question.onnx` an output after each.

The last head reads the first token of each side only, so the last layer is computed for these two tokens.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from onnx import TensorProto, helper
from torch import nn

from cascada.core.folder import read_shape
from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.extract import encoder_weights, head_of
from cascada.encoders.weights import Array, Dense, Layer, RankerWeights, dense_of
from cascada.graphs.graph import TYPES, Graph, WeightsFile, model_of
from cascada.graphs.layers import output, run_layers
from cascada.graphs.piece_vectors import save_vectors
from cascada.graphs.products import Products
from cascada.graphs.ranges import record_ranges, sample
from cascada.graphs.session import graph_file, stage_file
from cascada.graphs.transformer import dense_float32, dense_tokens_float32, embed, run_layer, skip_norm
from cascada.ranking.ranker import Ranker
from cascada.systems.decoupled.engine_torch import TorchEngine, join_weights_of, tokenizer_of
from cascada.systems.decoupled.export_lstm import lstm_graph
from cascada.systems.decoupled.folder import load
from cascada.systems.decoupled.join import save_join_weights
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import READ_DOCUMENT, READ_QUESTION, ExportedDecoupled, document_graph
from cascada.systems.decoupled.stages import stages_of
from cascada.systems.export import Precision


def exporter(folder: Path, precision: Precision) -> DecoupledExporter:
    """Load the ranker in `folder`; for int8, record its quantisation ranges on a sample of texts."""
    model = load(folder)
    if precision == "int8":
        ranker = Ranker(stages_of(TorchEngine(model, tokenizer_of(model, folder))))
        record_ranges(model, lambda: [ranker.rank(question, texts, drop=0) for question, texts in sample()])
    return DecoupledExporter(model, str(read_shape(folder)["fingerprint"]), precision)


class DecoupledExporter:
    """Writes a graph for each side, and one for each exit above the join."""

    def __init__(self, model: DecoupledRanker, fingerprint: str, precision: Precision) -> None:
        self.model = model
        self.fingerprint = fingerprint
        self.precision = precision
        shape = model.shape
        question = model.document if model.question is None else model.question
        self.question = tower_weights(question, shape.question_length)
        self.document = tower_weights(model.document, shape.max_length)
        layers = model.interaction.layers if shape.interaction == "layers" else ()
        heads = {exit: head_of(model.classifiers[str(exit)]) for exit in shape.joint_exits}
        self.joint = encoder_weights(model.document, layers, heads, longest=shape.max_length)  # type: ignore[arg-type]

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        shape, down = self.model.shape, dense_of(self.model.down) if self.model.shape.keep else None
        parts = shape.tower_parts
        graphs = {graph_file("question", safe=safe): tower_graph(self.question, parts, None, products, weights_file)}
        for first, last in parts:
            part_down = down if last == shape.join else None
            graph = tower_graph(self.document, [(first, last)], part_down, products, weights_file)
            graphs[graph_file(document_graph(first, last), safe=safe)] = graph
        if shape.interaction == "lstm":
            for name in (READ_QUESTION, READ_DOCUMENT):
                graph = lstm_graph(self.model.interaction, self.model.hidden, name, products, weights_file)
                graphs[graph_file(name, safe=safe)] = graph
        for first, exit in zip((shape.join, *shape.joint_exits), shape.joint_exits, strict=False):
            graphs[stage_file(exit, safe=safe)] = self.joint_graph(first, exit, products, weights_file)
        for name, graph in graphs.items():
            (folder / name).write_bytes(graph.SerializeToString())
        save_join_weights(join_weights_of(self.model), folder)
        if self.model.exit_zero:
            table, vectors = self.document.embeddings.words, self.model.exit_zero.vectors(self.model.document)
            save_vectors(folder, table, vectors, weights_file, int8=self.precision == "int8")

    def joint_graph(self, first: int, exit: int, products: Products, weights_file: WeightsFile) -> onnx.ModelProto:
        """The graph from one exit, or the join, to the next; the states at the join are float32."""
        kept = products.kept
        last, at_join = exit == self.model.shape.exits[-1], first == self.model.shape.join
        graph = Graph(weights_file)
        states = "states" if at_join or kept == "float32" else graph.op("Cast", "states", to=TensorProto.FLOAT)
        if self.model.shape.interaction == "linear":
            features = self._linear(graph, states, products)
        elif self.model.shape.interaction == "lstm":
            features = side_by_side(graph, states, self.model.hidden)  # each side was read before
        else:
            states, features = self._layers(graph, states, first, exit, products)
        inner, out = self.joint.heads[exit]
        scores = dense_float32(graph, tanh(graph, features, inner, products), out, products)
        graph.rename(graph.op("Squeeze", scores, graph.constant([1], np.int64)), "scores")
        if not last:
            states = states if kept == "float32" else graph.op("Cast", states, to=TensorProto.FLOAT16)
            graph.rename(states, "states_out")
        return self._joint_model(graph, last, TensorProto.FLOAT if at_join else TYPES[kept], TYPES[kept])

    def _linear(self, graph: Graph, states: str, products: Products) -> str:
        features = side_by_side(graph, both_first(graph, states), self.model.hidden)
        for part in self.model.interaction.modules():
            if isinstance(part, nn.Linear):
                features = tanh(graph, features, dense_of(part), products)
        return features

    def _layers(self, graph: Graph, states: str, first: int, exit: int, products: Products) -> tuple[str, str]:
        """The states after the layers, and the features; the very last layer gives no states."""
        join = self.model.shape.join
        joint = cast(tuple[Layer, ...], self.joint.layers)  # `check` refuses encoders with rotary layers here
        *layers, top = joint[first - join : exit - join]
        for layer in layers:
            states = run_layer(graph, layer, states, "", self.joint, products)
        if exit == self.model.shape.exits[-1]:
            rows = run_two(graph, top, states, self.joint, products)
        else:
            states = run_layer(graph, top, states, "", self.joint, products)
            rows = both_first(graph, states)
        return states, side_by_side(graph, rows, self.model.hidden)

    def _joint_model(self, graph: Graph, last: bool, input_type: int, kept: int) -> onnx.ModelProto:
        states, value = ("pairs", "tokens", self.model.hidden), helper.make_tensor_value_info
        inputs = [value("states", input_type, states)]
        inputs += [value(name, TensorProto.INT32, ("pairs",)) for name in ("lengths", "second")]
        outputs = [value("scores", TensorProto.FLOAT, ("pairs",))]
        return model_of(graph, inputs, outputs if last else [*outputs, value("states_out", kept, states)])

    def shape(self) -> dict[str, Any]:
        model, fingerprint = self.model, self.fingerprint
        if self.precision == "int8":  # the int8 graphs compute other encodings than the trained ranker
            fingerprint = hashlib.sha256(f"{fingerprint} int8 with ranges".encode()).hexdigest()[:32]
        exported = ExportedDecoupled(
            **dataclasses.asdict(model.shape),
            hidden=model.hidden,
            feed_forward=model.feed_forward,
            attention_heads=int(model.config.num_attention_heads),
            pad_id=model.pad_id,
            precision=self.precision,
            fingerprint=fingerprint,
        )
        return exported.to_dict()


def tower_weights(tower: StagedEncoder, longest: int) -> RankerWeights:
    """The weights of a tower. All of its tokens have type 0, whose embedding is added to the positions here."""
    weights = encoder_weights(tower, tower.layers, {}, longest=longest)
    own = weights.embeddings
    if own.types is None:
        return weights
    positions = np.zeros((longest, len(own.types[0])), np.float32) if own.positions is None else own.positions
    return dataclasses.replace(
        weights, embeddings=dataclasses.replace(own, positions=positions + own.types[0], types=None)
    )


def tower_graph(
    weights: RankerWeights,
    parts: Sequence[tuple[int, int]],
    down: Dense | None,
    products: Products,
    weights_file: WeightsFile,
) -> onnx.ModelProto:
    """The graph of some parts of a tower, with the states after each as outputs: embeddings if it begins with them,
    layers and, for documents, the projection to the cached dimensions."""
    graph, value = Graph(weights_file), helper.make_tensor_value_info
    lengths = value("lengths", TensorProto.INT32, ("texts",))
    if parts[0][0]:
        states, given = "states", value("states", TensorProto.FLOAT, ("texts", "tokens", weights.hidden))
    else:
        states = embed(graph, weights.embeddings, products)
        given = value("ids", TensorProto.INT32, ("texts", "tokens"))
    outputs = []
    for first, last in parts:
        states, name, width = (
            run_layers(graph, weights, states, first, last, products),
            f"states_{last}",
            weights.hidden,
        )
        if last == parts[-1][1]:
            states, name = output(graph, weights, states), "states_out"
            if down is not None:
                states, width = dense_tokens_float32(graph, states, down, products), len(down.bias)
        graph.rename(states, name)
        states = name
        outputs.append(value(name, TensorProto.FLOAT, ("texts", "tokens", width)))
    return model_of(graph, [given, lengths], outputs)


def run_two(graph: Graph, layer: Layer, states: str, weights: RankerWeights, products: Products) -> str:
    """A layer computed for the first token of each side only, (pairs, 2, hidden); they attend to all tokens."""
    width = len(layer.norm.gamma)
    three = layer.query_key_value
    rows = both_first(graph, states)
    query = products.dense(graph, rows, Dense(three.weight[:, :width], three.bias[:width], three.input_range))
    attended = attend_two(graph, query, states, three, weights.attention_heads, products)
    rows = skip_norm(graph, products.dense(graph, attended, layer.out), rows, layer.attention_norm)
    wide = products.dense(graph, rows, layer.up, activation=weights.activation)
    return skip_norm(graph, products.dense(graph, wide, layer.down), rows, layer.norm)


def attend_two(graph: Graph, query: str, states: str, three: Dense, heads: int, products: Products) -> str:
    """Attention of two queries for each pair, (pairs, 2, hidden), without keys and values of all tokens.

    As in `cascada.encoders.layers`: q·(Ks + b) is (qK)·s + q·b, of which q·b is the same for all tokens, and the
    weighted sum of values is the projection of the weighted sum of states.
    """
    width = three.weight.shape[0]
    size = width // heads
    key, value = (three.weight[:, start : start + width].reshape(width, heads, size) for start in (width, 2 * width))
    rows = graph.op("Reshape", query, graph.constant([-1, heads, size], np.int64))  # (pairs · 2, heads, size)
    rows = graph.op("Transpose", rows, perm=[1, 0, 2])
    rows = graph.op("MatMul", rows, per_head(graph, key.transpose(1, 2, 0), products))  # (heads, pairs · 2, hidden)
    rows = graph.op("Transpose", rows, perm=[1, 0, 2])
    rows = graph.op("Reshape", rows, graph.constant([-1, 2 * heads, width], np.int64))  # (pairs, 2 · heads, hidden)
    scores = graph.fused("FusedMatMul", rows, states, transB=1, alpha=size**-0.5)  # (pairs, 2 · heads, tokens)
    shares = graph.op("Softmax", graph.op("Add", scores, padding_mask(graph, states)), axis=-1)
    summed = graph.op("MatMul", shares, states)  # (pairs, 2 · heads, hidden)
    summed = graph.op("Reshape", summed, graph.constant([-1, heads, width], np.int64))
    summed = graph.op("Transpose", summed, perm=[1, 0, 2])  # (heads, pairs · 2, hidden)
    attended = graph.op("MatMul", summed, per_head(graph, value.transpose(1, 0, 2), products))
    attended = graph.op("Transpose", attended, perm=[1, 0, 2])
    attended = graph.op("Reshape", attended, graph.constant([-1, 2, width], np.int64))
    return str(graph.op("Add", attended, graph.constant(three.bias[2 * width :])))


def per_head(graph: Graph, weight: Array, products: Products) -> str:
    """A weight (heads, in, out) of products that are always in float32; its heads are stored side by side."""
    heads, rows, columns = weight.shape
    flat = products.weight(graph, np.ascontiguousarray(weight.transpose(1, 0, 2).reshape(rows, heads * columns)))
    split = graph.op("Reshape", flat, graph.constant([rows, heads, columns], np.int64))
    return str(graph.op("Transpose", split, perm=[1, 0, 2]))


def padding_mask(graph: Graph, states: str) -> str:
    """What is added to attention scores, (pairs, 1, tokens): 0 for real tokens, a very low number for padding."""
    tokens = graph.op("Gather", graph.op("Shape", states), graph.constant(np.array(1), np.int64))
    zero, one = graph.constant(np.array(0), np.int64), graph.constant(np.array(1), np.int64)
    places = graph.op("Cast", graph.op("Range", zero, tokens, one), to=TensorProto.INT32)
    lengths = graph.op("Unsqueeze", "lengths", graph.constant([1, 2], np.int64))  # (pairs, 1, 1)
    low, none = graph.constant(np.array(-1e9), np.float32), graph.constant(np.array(0), np.float32)
    return str(graph.op("Where", graph.op("Less", places, lengths), none, low))


def both_first(graph: Graph, states: str) -> str:
    """The first token of the question and that of the document, (pairs, 2, hidden)."""
    places = graph.op("Cast", "second", to=TensorProto.INT64)
    places = graph.op("Unsqueeze", places, graph.constant([1, 2], np.int64))  # (pairs, 1, 1)
    second = graph.op("GatherND", states, places, batch_dims=1)  # (pairs, 1, hidden)
    first = graph.op("Gather", states, graph.constant([0], np.int64), axis=1)
    return str(graph.op("Concat", first, second, axis=1))


def side_by_side(graph: Graph, rows: str, hidden: int) -> str:
    return str(graph.op("Reshape", rows, graph.constant([-1, 2 * hidden], np.int64)))


def tanh(graph: Graph, value: str, dense: Dense, products: Products) -> str:
    return str(graph.op("Tanh", dense_float32(graph, value, dense, products)))
