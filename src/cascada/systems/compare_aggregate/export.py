"""Export a compare-aggregate ranker as one ONNX graph.

| input | shape | |
|---|---|---|
| `question` | (pairs, n) int32 | word ids, padded with 0 |
| `text` | (pairs, m) int32 | word ids, padded with 0 |

The output is `scores`, (pairs,). The encoding of a word does not depend on its neighbours, so the graph reads it from a
table. Levels that the main level does not read are left out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from torch import nn

from cascada.encoders.weights import Array, Dense, dense_of
from cascada.graphs.graph import Graph, WeightsFile, model_of
from cascada.graphs.products import Products
from cascada.graphs.session import stage_file
from cascada.graphs.transformer import dense_float32
from cascada.objectives.levels import Levels, levels_needed
from cascada.systems.compare_aggregate.folder import load
from cascada.systems.compare_aggregate.network import CompareAggregateRanker
from cascada.systems.compare_aggregate.shape import ExportedCompareAggregate
from cascada.text.vocabulary import PAD, WORDS_FILE

END = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True)
class CompareWeights:
    """The arrays that the graph is made of."""

    encoded: Array  # (words, hidden): the encoding of each word; row 0, of padding, is never read
    filters: tuple[Dense, ...]  # for each width (width · hidden, channels of all levels)
    predict: tuple[Dense, Dense]  # the main level's perceptron; the second layer gives the score
    levels: Levels  # the main level and those it reads
    k_max: tuple[int, int] | None


def weights_of(model: CompareAggregateRanker) -> CompareWeights:
    """The weights of a trained network, for the main level and the levels it reads."""
    main = str(model.shape.main)
    used = levels_needed(model.shape.levels, main)
    with torch.no_grad():
        encoded = model.encode(model.embedding.weight)
    layers = zip(*(model.aggregate[level].convolutions for level in used), strict=True)
    first, last = (part for part in model.heads.predict[main].modules() if isinstance(part, nn.Linear))
    out = dense_of(last)
    if out.weight.shape[1] == 2:
        out = Dense(out.weight[:, 1:] - out.weight[:, :1], out.bias[1:] - out.bias[:1])
    return CompareWeights(
        encoded=encoded.cpu().numpy(),
        filters=tuple(_filter(same_width) for same_width in layers),
        predict=(dense_of(first), out),
        levels={level: model.shape.levels[level] for level in used},
        k_max=model.shape.k_max,
    )


def compare_graph(
    weights: CompareWeights, *, products: Products, weights_file: WeightsFile | None = None
) -> onnx.ModelProto:
    """Build the graph that this module describes."""
    graph = Graph(weights_file)
    sides = [_words(graph, weights, name, products) for name in ("question", "text")]
    compared = _compared(graph, sides[0], sides[1], weights.k_max)
    maxima = [
        _strongest(graph, weights, words, mask, products) for words, (_, mask) in zip(compared, sides, strict=True)
    ]
    feature = _feature(graph, weights.levels, [value for side in maxima for value in side])
    hidden = graph.op("Relu", dense_float32(graph, feature, weights.predict[0], products))
    scores = graph.op("Squeeze", dense_float32(graph, hidden, weights.predict[1], products), _ints(graph, 1))
    graph.rename(scores, "scores")
    return _model(graph)


def _words(graph: Graph, weights: CompareWeights, name: str, products: Products) -> tuple[str, str]:
    """Encodings (pairs, words, hidden) and mask (pairs, words)."""
    real = graph.op("Not", graph.op("Equal", name, graph.constant(np.array(PAD), np.int32)))
    return products.rows(graph, weights.encoded, name), real


def _compared(
    graph: Graph, asked: tuple[str, str], answered: tuple[str, str], k_max: tuple[int, int] | None
) -> tuple[str, str]:
    """Equations 2 to 4: each side's words times what they are aligned to."""
    (first, real_first), (second, real_second) = asked, answered
    scores = graph.op("MatMul", first, graph.op("Transpose", second, perm=(0, 2, 1)))  # (pairs, n, m)
    of_question, of_text = k_max or (None, None)
    to_text = _attention(graph, scores, real_second, of_text)
    to_question = _attention(graph, graph.op("Transpose", scores, perm=(0, 2, 1)), real_first, of_question)
    return (
        graph.op("Mul", graph.op("MatMul", to_text, second), first),
        graph.op("Mul", graph.op("MatMul", to_question, first), second),
    )


def _attention(graph: Graph, scores: str, real: str, most: int | None) -> str:
    nothing = graph.constant(np.array(-np.inf), np.float32)
    scores = graph.op("Where", graph.op("Unsqueeze", real, _ints(graph, 1)), scores, nothing)
    if most is not None:
        padded = graph.op("Pad", scores, _ints(graph, 0, 0, 0, 0, 0, most), nothing)  # TopK needs at least `most`
        largest, _ = graph.op("TopK", padded, _ints(graph, most), results=2)
        kth = graph.op("Slice", largest, _ints(graph, most - 1), _ints(graph, most), _ints(graph, 2))
        scores = graph.op("Where", graph.op("Less", scores, kth), nothing, scores)
    return str(graph.op("Softmax", scores, axis=-1))


def _strongest(graph: Graph, weights: CompareWeights, words: str, real: str, products: Products) -> list[str]:
    """Equation 5: for each width the largest value of each channel, (pairs, channels of all levels)."""
    hidden = weights.encoded.shape[1]
    widths = [len(dense.weight) // hidden for dense in weights.filters]
    before, after = max((width - 1) // 2 for width in widths), max(width // 2 for width in widths)
    mask = graph.op("Unsqueeze", real, _ints(graph, 2))  # (pairs, words, 1)
    words = graph.op("Mul", words, graph.op("Cast", mask, to=TensorProto.FLOAT))
    words = graph.op("Pad", words, _ints(graph, 0, before, 0, 0, after, 0))
    near = []
    for start in range(before + after + 1):
        stop = start - before - after or END
        near.append(graph.op("Slice", words, _ints(graph, start), _ints(graph, stop), _ints(graph, 1)))
    maxima = []
    for width, dense in zip(widths, weights.filters, strict=True):
        first = before - (width - 1) // 2
        window = graph.op("Concat", *near[first : first + width], axis=-1) if width > 1 else near[first]
        values = products.dense(graph, window, dense)
        values = graph.op("Where", mask, values, graph.constant(np.array(-np.inf), np.float32))
        maxima.append(graph.op("Relu", graph.op("ReduceMax", values, axes=(1,), keepdims=0)))
    return maxima


def _feature(graph: Graph, levels: Levels, maxima: Sequence[str]) -> str:
    """The last level's integrated feature: those of the levels it reads, then its own."""
    count = len(levels)
    shares = [graph.op("Split", value, axis=-1, results=count) if count > 1 else [value] for value in maxima]
    features: dict[str, str] = {}
    for place, (level, reads) in enumerate(levels.items()):
        own = graph.op("Concat", *(share[place] for share in shares), axis=-1)
        before = [features[name] for name in reads]
        features[level] = graph.op("Concat", *before, own, axis=-1) if before else own
    return features[level]


def _ints(graph: Graph, *values: int) -> str:
    return graph.constant(list(values), np.int64)


def _filter(layers: Sequence[Any]) -> Dense:
    weight = torch.cat([layer.weight for layer in layers]).detach().cpu().numpy()  # (channels, hidden, width)
    rows = weight.transpose(2, 1, 0).reshape(-1, len(weight))
    return Dense(np.ascontiguousarray(rows), torch.cat([layer.bias for layer in layers]).detach().cpu().numpy())


def _model(graph: Graph) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    inputs = [value(name, TensorProto.INT32, ("pairs", f"{name} words")) for name in ("question", "text")]
    outputs = [value("scores", TensorProto.FLOAT, ("pairs",))]
    return model_of(graph, inputs, outputs)


def exporter(folder: Path, precision: str) -> CompareAggregateExporter:
    """Load the ranker in `folder`."""
    return CompareAggregateExporter(folder, precision)


class CompareAggregateExporter:
    """Writes one graph, and the vocabulary."""

    def __init__(self, folder: Path, precision: str) -> None:
        self.model, self.vocabulary = load(folder)
        self.precision = precision
        self.weights = weights_of(self.model)

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        graph = compare_graph(self.weights, products=products, weights_file=weights_file)
        (folder / stage_file(0, safe=safe)).write_bytes(graph.SerializeToString())
        self.vocabulary.save(folder / WORDS_FILE)

    def shape(self) -> dict[str, Any]:
        return ExportedCompareAggregate(**vars(self.model.shape), precision=self.precision).to_dict()
