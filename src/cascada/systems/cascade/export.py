"""Export a transformer ranker as ONNX graphs, one per exit; `cascada.graphs.graph` describes their inputs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError
from cascada.encoders.extract import encoder_weights, head_of
from cascada.encoders.weights import RankerWeights
from cascada.graphs.graph import WeightsFile
from cascada.graphs.piece_vectors import save_vectors
from cascada.graphs.products import Products
from cascada.graphs.ranges import record_ranges, sample
from cascada.graphs.stage_graph import write_stage_graphs
from cascada.systems.cascade.engine_torch import ranker_of
from cascada.systems.cascade.folder import load
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import ExportedCascade
from cascada.systems.export import Precision
from cascada.text.pairs import PairTokenizer


def exporter(folder: Path, precision: Precision) -> CascadeExporter:
    """Load the ranker in `folder`; for int8, record its quantisation ranges on a sample of texts."""
    model = load(folder)
    if model.shape.head == "mean-without-first":
        raise CascadaError(f"{folder}: a ranker with head: mean-without-first cannot be exported; head: mean can.")
    if precision == "int8":
        tokenizer = PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id)
        ranker = ranker_of(model, tokenizer)
        record_ranges(model, lambda: [ranker.rank(question, texts, drop=0) for question, texts in sample()])
    return CascadeExporter(model, precision)


class CascadeExporter:
    """Writes one graph per exit."""

    def __init__(self, model: CascadeRanker, precision: Precision) -> None:
        self.model = model
        self.precision = precision
        self.weights = weights_of(model)

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        write_stage_graphs(folder, self.weights, self.model.shape.layer_exits, products, weights_file, safe=safe)
        if self.model.exit_zero:
            table, vectors = self.weights.embeddings.words, self.model.exit_zero.vectors(self.model.encoder)
            save_vectors(folder, table, vectors, weights_file, int8=self.precision == "int8")

    def shape(self) -> dict[str, Any]:
        model = self.model
        exported = ExportedCascade(
            **dataclasses.asdict(model.shape),
            hidden=model.encoder.hidden_size,
            feed_forward=model.encoder.feed_forward_size,
            pad_id=model.pad_id,
            kept="float16" if self.precision == "int8" else "float32",
            precision=self.precision,
        )
        return exported.to_dict()


def weights_of(model: CascadeRanker) -> RankerWeights:
    """The weights of a trained network as arrays."""
    heads = {exit: head_of(model.heads[str(exit)]) for exit in model.shape.layer_exits}
    return encoder_weights(model.encoder, model.encoder.layers, heads, longest=model.shape.max_length)
