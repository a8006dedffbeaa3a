"""Export a cross-encoder as ONNX graphs, one per exit, the last one with the model's own head."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from cascada.core.errors import CascadaError
from cascada.encoders.extract import encoder_weights
from cascada.encoders.weights import Dense, dense_of, norm_of
from cascada.graphs.graph import FUSED, Graph, WeightsFile
from cascada.graphs.piece_vectors import save_vectors
from cascada.graphs.products import Products
from cascada.graphs.ranges import record_ranges, sample
from cascada.graphs.stage_graph import write_stage_graphs
from cascada.graphs.transformer import dense_float32, first_token, layer_norm, mean_of_tokens
from cascada.systems.cross_encoder.engine_torch import ranker_of
from cascada.systems.cross_encoder.folder import load, pair_tokenizer
from cascada.systems.cross_encoder.network import CrossEncoderRanker
from cascada.systems.cross_encoder.shape import ExportedCrossEncoder
from cascada.systems.export import Precision
from cascada.text.pairs import PairTokenizer


def exporter(folder: Path, precision: Precision) -> CrossEncoderExporter:
    """Load the model in `folder`; for int8, record its quantisation ranges on a sample of texts."""
    network = load(folder)
    tokenizer = pair_tokenizer(folder, network)
    if precision == "int8":
        ranker = ranker_of(network, tokenizer)
        record_ranges(network, lambda: [ranker.rank(question, texts, drop=0) for question, texts in sample()])
    return CrossEncoderExporter(network, tokenizer, precision)


class CrossEncoderExporter:
    """Writes one graph per exit, and the tokenizer as transformers makes it."""

    def __init__(self, network: CrossEncoderRanker, tokenizer: PairTokenizer, precision: Precision) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.precision = precision
        encoder = network.encoder
        self.weights = encoder_weights(encoder, encoder.layers, {}, longest=network.shape.max_length)

    def write(self, folder: Path, products: Products, weights_file: WeightsFile, *, safe: bool) -> None:
        exits = self.network.shape.layer_exits
        write_stage_graphs(folder, self.weights, exits, products, weights_file, safe=safe, own_head=self._head)
        self.tokenizer.tokenizer.save(str(folder / "tokenizer.json"))
        if self.network.exit_zero:
            vectors = self.network.exit_zero.vectors(self.network.encoder)
            save_vectors(folder, self.weights.embeddings.words, vectors, weights_file, int8=self.precision == "int8")

    def shape(self) -> dict[str, Any]:
        network = self.network
        own = {field.name: getattr(network.shape, field.name) for field in dataclasses.fields(network.shape)}
        exported = ExportedCrossEncoder(
            **own,
            hidden=network.encoder.hidden_size,
            feed_forward=network.encoder.feed_forward_size,
            pad_id=network.pad_id,
            kept="float16" if self.precision == "int8" else "float32",
            precision=self.precision,
        )
        return exported.to_dict()

    def _head(self, graph: Graph, states: str, products: Products, exit: int) -> str:
        """The scores (pairs,) at an exit: by the model's own head at the last one, else by the head that was added."""
        shape = self.network.shape
        if exit == shape.exits[-1]:
            own = self.network.own_head
            pooled = _pooled(graph, own.pooling, states)
            pooled = _activated(graph, dense_float32(graph, pooled, dense_of(own.dense), products), own.activation)
            pooled = pooled if own.norm is None else layer_norm(graph, pooled, norm_of(own.norm))
            return _score(graph, pooled, _one_output(own.out), products)
        pooled = _pooled(graph, shape.head.pooling, states)
        *inner, out = (part for part in self.network.heads[str(exit)].modules() if isinstance(part, nn.Linear))
        for layer in inner:
            pooled = graph.op("Tanh", dense_float32(graph, pooled, dense_of(layer), products))
        return _score(graph, pooled, dense_of(out), products)


def _pooled(graph: Graph, pooling: str, states: str) -> str:
    parts = [first_token(graph, states)] if pooling in ("first", "both") else []
    parts += [mean_of_tokens(graph, states)] if pooling in ("mean", "both") else []
    return str(graph.op("Concat", *parts, axis=-1)) if len(parts) > 1 else parts[0]


def _activated(graph: Graph, value: str, activation: str) -> str:
    known = {"tanh": "Tanh", "relu": "Relu", "gelu": "Gelu", "gelu_new": "FastGelu"}
    if activation not in known:
        raise CascadaError(f"The activation of the model's head is {activation}, which cannot be exported.")
    return str(graph.op(known[activation], value, domain=FUSED if "gelu" in activation else ""))


def _one_output(out: nn.Linear) -> Dense:
    """The layer of the raw score: of one logit, or of the second minus the first."""
    dense = dense_of(out)
    if len(dense.bias) == 1:
        return dense
    return Dense(dense.weight[:, 1:] - dense.weight[:, :1], dense.bias[1:] - dense.bias[:1])


def _score(graph: Graph, pooled: str, out: Dense, products: Products) -> str:
    scores = dense_float32(graph, pooled, out, products)
    return str(graph.op("Squeeze", scores, graph.constant([1], np.int64)))
