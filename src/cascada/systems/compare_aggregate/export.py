"""A compare-aggregate ranker as one ONNX graph.

| input | shape | |
|---|---|---|
| `question` | (pairs, n) int32 | word ids, 0 behind the last one |
| `text` | (pairs, m) int32 | |

The output is `scores`, (pairs,). A word is encoded by itself, so the graph has every word's encoding in a table and
computes none. Levels that the ranking one does not read are left out.
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

from cascada.core.folder import COMPARE_AGGREGATE
from cascada.encoders.weights import Array, Dense, dense_of
from cascada.graphs.graph import Graph, WeightsFile, model_of
from cascada.graphs.products import Products
from cascada.graphs.session import stage_file
from cascada.graphs.transformer import plain
from cascada.objectives.levels import Levels, needed
from cascada.systems.compare_aggregate.folder import load
from cascada.systems.compare_aggregate.network import CompareAggregate
from cascada.text.vocabulary import PAD, WORDS_FILE

END = np.iinfo(np.int64).max


@dataclasses.dataclass(frozen=True)
class CompareWeights:
    """All that the graph is made of."""

    encoded: Array  # (words, hidden): row 0, of padding, is never looked at
    filters: tuple[Dense, ...]  # for each width (width · hidden, channels of all levels)
    predict: tuple[Dense, Dense]  # of the level that ranks; the second one gives the score itself
    levels: Levels  # those that are computed
    k_max: tuple[int, int] | None


def weights_of(model: CompareAggregate) -> CompareWeights:
    """A trained network's, of the levels that the ranking one reads."""
    main = str(model.shape.main)
    used = needed(model.shape.levels, main)
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
    """The graph, as this module describes it."""
    graph = Graph(weights_file)
    sides = [_words(graph, weights, name, products) for name in ("question", "text")]
    compared = _compared(graph, sides[0], sides[1], weights.k_max)
    found = [_strongest(graph, weights, one, mask, products) for one, (_, mask) in zip(compared, sides, strict=True)]
    feature = _feature(graph, weights.levels, [value for side in found for value in side])
    hidden = graph.op("Relu", plain(graph, feature, weights.predict[0], products))
    scores = graph.op("Squeeze", plain(graph, hidden, weights.predict[1], products), _ints(graph, 1))
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
        wider = graph.op("Pad", scores, _ints(graph, 0, 0, 0, 0, 0, most), nothing)  # so that there are always so many
        largest, _ = graph.op("TopK", wider, _ints(graph, most), results=2)
        kth = graph.op("Slice", largest, _ints(graph, most - 1), _ints(graph, most), _ints(graph, 2))
        scores = graph.op("Where", graph.op("Less", scores, kth), nothing, scores)
    return str(graph.op("Softmax", scores, axis=-1))


def _strongest(graph: Graph, weights: CompareWeights, words: str, real: str, products: Products) -> list[str]:
    """Equation 5: for each width the largest value of each channel, (pairs, channels of all levels)."""
    hidden = weights.encoded.shape[1]
    widths = [len(one.weight) // hidden for one in weights.filters]
    before, after = max((width - 1) // 2 for width in widths), max(width // 2 for width in widths)
    mask = graph.op("Unsqueeze", real, _ints(graph, 2))  # (pairs, words, 1)
    words = graph.op("Mul", words, graph.op("Cast", mask, to=TensorProto.FLOAT))
    words = graph.op("Pad", words, _ints(graph, 0, before, 0, 0, after, 0))
    near = []
    for start in range(before + after + 1):
        stop = start - before - after or END
        near.append(graph.op("Slice", words, _ints(graph, start), _ints(graph, stop), _ints(graph, 1)))
    found = []
    for width, one in zip(widths, weights.filters, strict=True):
        first = before - (width - 1) // 2
        window = graph.op("Concat", *near[first : first + width], axis=-1) if width > 1 else near[first]
        values = products.dense(graph, window, one)
        values = graph.op("Where", mask, values, graph.constant(np.array(-np.inf), np.float32))
        found.append(graph.op("Relu", graph.op("ReduceMax", values, axes=(1,), keepdims=0)))
    return found


def _feature(graph: Graph, levels: Levels, found: Sequence[str]) -> str:
    """The last level's feature, with those that it reads before its own."""
    shares = [graph.op("Split", value, axis=-1, results=len(levels)) if len(levels) > 1 else [value] for value in found]
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
    """The ranker in `folder`, ready to be written."""
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
        shape = dataclasses.asdict(self.model.shape)
        return {"kind": COMPARE_AGGREGATE, "exits": [0], **shape, "precision": self.precision}
