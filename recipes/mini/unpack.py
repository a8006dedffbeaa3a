"""Unpack the bundled model into a ranker that can be trained further: its int8 weights, dequantised to float.

    python recipes/mini/unpack.py runs/mini --encoder sentence-transformers/all-MiniLM-L6-v2

The result is what recipes/mini/make.sh trains, except for rounding. `--encoder` is the encoder that the model was
trained from: the tokenizer comes from it, and so do the position embeddings beyond those that the bundled model keeps.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.external_data_helper import load_external_data_for_model
from torch import nn

from cascada.core.folder import kind_of
from cascada.encoders.files import tokenizer_folder
from cascada.graphs.piece_vectors import load_vectors
from cascada.graphs.session import graph_file, stage_file
from cascada.systems.cascade.folder import begin as begin_cascade
from cascada.systems.cascade.shape import read_exported as read_cascade
from cascada.systems.decoupled.folder import begin as begin_decoupled
from cascada.systems.decoupled.join import load_join_weights
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.shape import read_exported as read_decoupled
from cascada.systems.load import BUNDLED_FOLDER
from cascada.systems.registry import part

Array = NDArray[np.float32]
Weights = dict[str, Array]

DENSE = ("attention.output.dense", "intermediate.dense", "output.dense")
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


class Arrays:
    """The constants of a graph, in the order in which it uses them. The graph must multiply in float32."""

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


def embeddings(arrays: Arrays, types: Array) -> Weights:
    """`types` are the encoder's own: where a graph reads one side only, the first of them is part of the positions."""
    words, scale, *own_types = arrays.of("Gather", dimensions=2)
    gamma, beta = arrays.of("LayerNormalization", dimensions=1)
    (positions,) = arrays.of("Slice", dimensions=2)
    positions = positions if own_types else positions - types[0]
    weights = {"word_embeddings.weight": words * scale, "position_embeddings.weight": positions}
    weights |= {"token_type_embeddings.weight": own_types[0] if own_types else types}
    weights |= {"LayerNorm.weight": gamma, "LayerNorm.bias": beta}
    return {f"embeddings.{name}": array for name, array in weights.items()}


def layers(arrays: Arrays, first: int) -> Weights:
    weights: Weights = {}
    attention = zip(arrays.of("Attention", dimensions=2), arrays.of("Attention", dimensions=1), strict=True)
    for number, (weight, bias) in enumerate(attention, first):
        parts = ("query", "key", "value"), np.split(weight, 3, 1), np.split(bias, 3)
        for role, own, own_bias in zip(*parts, strict=True):
            name = f"encoder.layer.{number}.attention.self.{role}"
            weights |= {f"{name}.weight": own.T, f"{name}.bias": own_bias}
    dense = zip(arrays.of("MatMul", dimensions=2), arrays.of("Add", "BiasGelu", dimensions=1), strict=True)
    for place, (weight, bias) in enumerate(dense):
        name = f"encoder.layer.{first + place // 3}.{DENSE[place % 3]}"
        weights |= {f"{name}.weight": weight.T, f"{name}.bias": bias}
    norms = list(arrays.of("SkipLayerNormalization", dimensions=1))
    for place, (gamma, beta) in enumerate(zip(norms[::2], norms[1::2], strict=True)):
        name = f"encoder.layer.{first + place // 2}.{NORMS[place % 2]}"
        weights |= {f"{name}.weight": gamma, f"{name}.bias": beta}
    return weights


def head(arrays: Arrays, exit: int) -> Weights:
    """A head's weights. Its single score is split into two logits, as in training, whose difference it is."""
    *inner, (out, bias) = zip(arrays.of("Gemm", dimensions=2), arrays.of("Gemm", dimensions=1), strict=True)
    weights = {f"heads.{exit}.out.weight": np.stack((-out[:, 0], out[:, 0])) / 2}
    weights[f"heads.{exit}.out.bias"] = np.append(-bias, bias) / 2
    for place, (weight, own_bias) in enumerate(inner):
        name = f"heads.{exit}.dense.{1 + 3 * place}"
        weights |= {f"{name}.weight": weight.T, f"{name}.bias": own_bias}
    return weights


def unpack(exported: Path, encoder: str, output: Path) -> None:
    """Write the ranker's folder; `exported` must be an int8 export of a BERT: of late interaction, or with heads on the
    mean."""
    decoupled = kind_of(exported) == "decoupled"
    model = (late_interaction if decoupled else cascade)(exported, encoder)
    room = part(kind_of(exported), "folder")
    room.save(model, output, tokenizer=tokenizer_folder(encoder), card="# The weights of an int8 export, as float\n")


def late_interaction(exported: Path, encoder: str) -> nn.Module:
    """A decoupled ranker with one tower that ends at the join."""
    shape = read_decoupled(exported)
    assert not shape.joint_exits, "layers above the join cannot be unpacked"
    fields = {field.name: getattr(shape, field.name) for field in dataclasses.fields(DecoupledShape)}
    model = begin_decoupled(encoder, DecoupledShape(**fields | {"towers": "shared"}))
    weights = model.state_dict()
    arrays = Arrays(exported / graph_file("document", safe=True))
    types = weights["document.encoder.embeddings.token_type_embeddings.weight"].numpy()
    put(weights, "document.encoder.", layers(arrays, 0) | embeddings(arrays, types))
    scale, shift = load_join_weights(exported).cosine
    weights["cosine.log_scale"], weights["cosine.shift"] = torch.tensor(scale).log(), torch.tensor(shift)
    if shape.exit_zero:
        vectors = load_vectors(exported)
        put(weights, "exit_zero.", {"weights": vectors.weights, "scaling": np.array(vectors.scaling)})
    model.load_state_dict(weights)
    return model.eval()


def cascade(exported: Path, encoder: str) -> nn.Module:
    """A transformer with heads on the mean."""
    shape = read_cascade(exported)
    model = begin_cascade(encoder, exits=shape.exits, head=shape.head, max_length=shape.max_length)
    weights = model.state_dict()
    types = weights["encoder.encoder.embeddings.token_type_embeddings.weight"].numpy()
    first = 0
    for exit in shape.layer_exits:
        arrays = Arrays(exported / stage_file(exit, safe=True))
        put(weights, "encoder.encoder.", layers(arrays, first) | (embeddings(arrays, types) if first == 0 else {}))
        put(weights, "", head(arrays, exit))
        first = exit
    model.load_state_dict(weights)
    return model.eval()


def put(weights: dict[str, torch.Tensor], prefix: str, arrays: Weights) -> None:
    """Set weights, or their first rows: an export keeps only as many positions as it reads."""
    for name, array in arrays.items():
        weights[prefix + name][: len(array)] = torch.from_numpy(array.astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--exported", type=Path, default=BUNDLED_FOLDER)
    chosen = parser.parse_args()
    unpack(chosen.exported, chosen.encoder, chosen.output)


if __name__ == "__main__":
    main()
