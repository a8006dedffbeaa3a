"""From an int8 export back to a network that can be trained, with dequantised weights. The bundled model is an export.

Only a ranker that ends at the join, on an encoder of BERT's layout, can be unpacked. Instead of one with layers above
the join, train the ranker that it was exported from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.external_data_helper import load_external_data_for_model
from transformers import BertConfig, BertModel

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import StagedEncoder
from cascada.graphs.piece_vectors import load_vectors
from cascada.graphs.session import graph_file
from cascada.systems.decoupled.join import load_join_weights
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape, ExportedDecoupled, document_graph, read_exported

Array = NDArray[np.float32]
Weights = dict[str, Array]

DENSE = ("attention.output.dense", "intermediate.dense", "output.dense")
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


def unpacked(folder: Path) -> DecoupledRanker:
    """The exported ranker in `folder` as a network with one tower, in evaluation mode."""
    exported = read_exported(folder)
    if exported.joint_exits or exported.precision != "int8" or exported.keep:
        raise CascadaError(
            f"{folder} is an exported ranker that cannot be trained on: only int8 exports that end at the join can. "
            "Train the ranker it was exported from."
        )
    parts = exported.tower_parts
    graphs = [Graph(folder / graph_file(document_graph(first, last), safe=True)) for first, last in parts]
    tower = graphs[0].embeddings()
    for graph, (first, _) in zip(graphs, parts, strict=True):
        tower |= graph.layers(first)
    model = DecoupledRanker(StagedEncoder(BertModel(_config(exported, graphs[0], tower))), _shape(exported))
    weights = {f"document.encoder.{name}": array for name, array in tower.items()}
    join = load_join_weights(folder, exported.join)
    if exported.match == "both":
        weights["cosine.weights"] = np.array([1, join.cosine], np.float32)
    for exit, (scale, shift) in join.scaling.items():
        name = "cosine" if exit == exported.join else f"below.{exit}"
        weights |= {f"{name}.log_scale": np.array(np.log(scale), np.float32)}
        weights |= {f"{name}.shift": np.array(shift, np.float32)}
    if model.exit_zero:
        vectors = load_vectors(folder)
        weights |= {"exit_zero.weights": vectors.weights, "exit_zero.scaling": np.array(vectors.scaling)}
    _put(model, weights)
    return model.eval()


class Graph:
    """The constants of a graph that multiplies in float32, in the order in which it uses them."""

    def __init__(self, path: Path) -> None:
        model = onnx.load(path, load_external_data=False)
        load_external_data_for_model(model, str(path.parent))
        self.nodes = list(model.graph.node)
        self.known: Weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        for node in self.nodes:
            parts = [self.known[name].astype(np.float32) for name in node.input if name in self.known]
            if node.op_type in ("Cast", "Mul") and len(parts) == len(node.input):  # dequantisation of a weight
                self.known[node.output[0]] = parts[0] if node.op_type == "Cast" else parts[0] * parts[1]

    def of(self, *kinds: str, dimensions: int) -> Iterator[Array]:
        for node in self.nodes:
            if node.op_type in kinds:
                constants = (self.known[name] for name in node.input if name in self.known)
                yield from (constant for constant in constants if constant.ndim == dimensions)

    def attribute(self, kind: str, name: str) -> Any:
        """The value of an attribute of the first node of a kind."""
        node = next(node for node in self.nodes if node.op_type == kind)
        return next(onnx.helper.get_attribute_value(value) for value in node.attribute if value.name == name)

    def embeddings(self) -> Weights:
        """The weights of the embeddings; those of types are zero, since a side's type was added to the positions."""
        words, scale = self.of("Gather", dimensions=2)
        (positions,) = self.of("Slice", dimensions=2)
        gamma, beta = self.of("LayerNormalization", dimensions=1)
        weights = {"word_embeddings.weight": words * scale, "position_embeddings.weight": positions}
        weights["token_type_embeddings.weight"] = np.zeros_like(positions[:2])
        weights |= {"LayerNorm.weight": gamma, "LayerNorm.bias": beta}
        return {f"embeddings.{name}": array for name, array in weights.items()}

    def dense(self) -> Iterator[tuple[Array, Array]]:
        """The weight and the bias of each product; a graph does not add a bias of zeros."""
        added = {name: node for node in self.nodes if node.op_type in ("Add", "BiasGelu") for name in node.input}
        for node in self.nodes:
            weight = self.known.get(node.input[1]) if node.op_type == "MatMul" else None
            if weight is not None:
                adding = added.get(node.output[0])
                biases = [self.known[name] for name in adding.input if name in self.known] if adding else []
                yield weight, biases[0] if biases else np.zeros(weight.shape[1], np.float32)

    def layers(self, first: int) -> Weights:
        """The weights of the graph's layers, which follow the first `first` of the tower."""
        weights: Weights = {}
        attention = zip(self.of("Attention", dimensions=2), self.of("Attention", dimensions=1), strict=True)
        for number, (weight, bias) in enumerate(attention):
            parts = ("query", "key", "value"), np.split(weight, 3, 1), np.split(bias, 3)
            for role, own, own_bias in zip(*parts, strict=True):
                name = f"encoder.layer.{first + number}.attention.self.{role}"
                weights |= {f"{name}.weight": own.T, f"{name}.bias": own_bias}
        for place, (weight, bias) in enumerate(self.dense()):
            name = f"encoder.layer.{first + place // 3}.{DENSE[place % 3]}"
            weights |= {f"{name}.weight": weight.T, f"{name}.bias": bias}
        norms = list(self.of("SkipLayerNormalization", dimensions=1))
        for place, (gamma, beta) in enumerate(zip(norms[::2], norms[1::2], strict=True)):
            name = f"encoder.layer.{first + place // 2}.{NORMS[place % 2]}"
            weights |= {f"{name}.weight": gamma, f"{name}.bias": beta}
        return weights


def _config(exported: ExportedDecoupled, graph: Graph, tower: Weights) -> BertConfig:
    return BertConfig(
        vocab_size=len(tower["embeddings.word_embeddings.weight"]),
        hidden_size=exported.hidden,
        num_hidden_layers=exported.join,
        num_attention_heads=graph.attribute("Attention", "num_heads"),
        intermediate_size=exported.feed_forward,
        max_position_embeddings=len(tower["embeddings.position_embeddings.weight"]),
        layer_norm_eps=graph.attribute("LayerNormalization", "epsilon"),
        pad_token_id=exported.pad_id,
        architectures=["BertModel"],
    )


def _shape(exported: ExportedDecoupled) -> DecoupledShape:
    fields = {field.name: getattr(exported, field.name) for field in dataclasses.fields(DecoupledShape)}
    return DecoupledShape(**fields | {"towers": "shared"})


def _put(model: DecoupledRanker, weights: Weights) -> None:
    """Set the weights; every one of the model's has to be among them."""
    own = model.state_dict()
    tensors = {name: torch.tensor(np.asarray(array), dtype=own[name].dtype) for name, array in weights.items()}
    missing = {name for name in own if name not in tensors and not name.startswith("meet.") and own[name].numel()}
    if missing:
        raise CascadaError(f"The export lacks {min(missing)}: it is not one of an encoder of BERT's layout.")
    model.load_state_dict(tensors, strict=False)
