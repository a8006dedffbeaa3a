"""Export a reader as one ONNX graph, and measure how closely it reproduces the trained reader's answers.

| input | shape | |
|---|---|---|
| `ids`, `types` | (windows, tokens) int32 | `[CLS] question [SEP] part of a text [SEP]` |
| `lengths` | (windows,) int32 | the number of real tokens; padding follows them |

The output, `logits` (windows, tokens, 2), scores each token as the first and as the last one of an answer. Tokens
outside the text have logits too; `Reader` reads only those of the text, and the first one for "no answer".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from cascada.core.folder import READER
from cascada.encoders.extract import encoder_weights
from cascada.encoders.weights import Dense, RankerWeights, dense_of
from cascada.graphs.graph import Graph, WeightsFile, model_of
from cascada.graphs.layers import output, run_layers
from cascada.graphs.products import Products
from cascada.graphs.ranges import record_ranges, sample
from cascada.graphs.session import graph_file
from cascada.graphs.transformer import dense_tokens_float32, embed
from cascada.reading.engine_torch import reader_of, tokenizer_of
from cascada.reading.folder import load
from cascada.reading.measure import MarkedQuestion, measure_reader
from cascada.reading.network import ReaderNetwork
from cascada.reading.reader import Reader
from cascada.reading.shape import GRAPH, ExportedReader
from cascada.systems.export import Agreement, Precision


def exporter(folder: Path, precision: Precision) -> ReaderExporter:
    """Load the reader in `folder`; for int8, record its quantisation ranges on a sample of texts."""
    model = load(folder)
    if precision == "int8":
        reader = reader_of(model, tokenizer_of(model, folder))
        record_ranges(model, lambda: reader.read_many(sample()))
    return ReaderExporter(model, precision)


class ReaderExporter:
    """Writes the graph of a reader."""

    def __init__(self, model: ReaderNetwork, precision: Precision) -> None:
        self.model = model
        self.precision = precision
        self.weights = encoder_weights(model.encoder, model.encoder.layers, {}, longest=model.shape.max_length)

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        graph = reader_graph(self.weights, dense_of(self.model.out), products, weights_file)
        (folder / graph_file(GRAPH, safe=safe)).write_bytes(graph.SerializeToString())

    def shape(self) -> dict[str, Any]:
        shape = self.model.shape
        exported = ExportedReader(
            exits=shape.exits,
            max_length=shape.max_length,
            overlap=shape.overlap,
            pad_id=self.model.pad_id,
            precision=self.precision,
        )
        return {"kind": READER, **vars(exported)}


def reader_graph(
    weights: RankerWeights, out: Dense, products: Products, weights_file: WeightsFile | None = None
) -> onnx.ModelProto:
    """Embeddings, all layers, and the layer that scores each token."""
    graph = Graph(weights_file)
    states = embed(graph, weights.embeddings, products)
    states = output(graph, weights, run_layers(graph, weights, states, 0, len(weights.layers), products))
    graph.rename(dense_tokens_float32(graph, states, out, products), "logits")
    value, places = helper.make_tensor_value_info, ("windows", "tokens")
    inputs = [value(name, TensorProto.INT32, places) for name in ("ids", "types")]
    inputs.append(value("lengths", TensorProto.INT32, places[:1]))
    return model_of(graph, inputs, [value("logits", TensorProto.FLOAT, (*places, 2))])


def agreement(
    folder: Path,
    out: Path,
    questions: Sequence[MarkedQuestion],
    advance: Callable[[int], None] = lambda questions: None,
) -> Agreement:
    """F1 of a trained reader and of its export; `advance` is called with the number of questions that were read."""
    trained, exported = Reader.load(folder), Reader.load(out)
    before, after = (measure_reader(reader, questions, advance).mean["F1"] for reader in (trained, exported))
    return Agreement(_difference(trained, exported, questions), before, after, measure="F1")


def _difference(trained: Reader, exported: Reader, questions: Sequence[MarkedQuestion]) -> float:
    """The largest difference between the two readers' scores of any of some questions' best spans."""
    some = [(marked.question, [marked.text]) for marked in questions[:COMPARED]]
    pairs = zip(trained.read_many(some), exported.read_many(some), strict=True)
    return max((abs(own[0].score - other[0].score) for own, other in pairs if own and other), default=0.0)


COMPARED = 64
"""Questions whose scores are compared; F1 is that of all of them."""
