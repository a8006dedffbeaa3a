"""The bundled model as a ranker that can be trained on: its weights of 8 bits, widened to float.

    python recipes/mini/unpack.py runs/transfer-short --encoder intfloat/e5-small

What recipes/mini/transfer.yaml makes in an hour is this but for the rounding, and for layers 9 to 12. `--encoder` is
what the model was trained from: it gives the tokenizer, and the positions that the model was cut short of.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.external_data_helper import load_external_data_for_model

from cascada.core.folder import read_shape
from cascada.encoders.files import tokenizer_folder
from cascada.graphs.session import stage_file
from cascada.systems.cascade.folder import begin, save
from cascada.systems.load import BUNDLED_FOLDER

Array = NDArray[np.float32]
Weights = dict[str, Array]

EMBEDDINGS, LAYER = "encoder.encoder.embeddings", "encoder.encoder.encoder.layer"
DENSE = ("attention.output.dense", "intermediate.dense", "output.dense")
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")


class Arrays:
    """What one graph computes with, in the order in which it does. The graph is one that multiplies in float."""

    def __init__(self, path: Path) -> None:
        model = onnx.load(path, load_external_data=False)
        load_external_data_for_model(model, str(path.parent))
        self.nodes = list(model.graph.node)
        self.known: Weights = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        for node in self.nodes:
            parts = [self.known[name].astype(np.float32) for name in node.input if name in self.known]
            if node.op_type in ("Cast", "Mul") and len(parts) == len(node.input):  # whole numbers, and their scale
                self.known[node.output[0]] = parts[0] if node.op_type == "Cast" else parts[0] * parts[1]

    def of(self, *kinds: str, dimensions: int) -> Iterator[Array]:
        for node in self.nodes:
            if node.op_type in kinds:
                found = (self.known[name] for name in node.input if name in self.known)
                yield from (one for one in found if one.ndim == dimensions)


def embeddings(arrays: Arrays) -> Weights:
    words, scale, types = arrays.of("Gather", dimensions=2)
    gamma, beta = arrays.of("LayerNormalization", dimensions=1)
    (positions,) = arrays.of("Slice", dimensions=2)
    found = {"word_embeddings.weight": words * scale, "position_embeddings.weight": positions}
    found |= {"token_type_embeddings.weight": types, "LayerNorm.weight": gamma, "LayerNorm.bias": beta}
    return {f"{EMBEDDINGS}.{name}": array for name, array in found.items()}


def layers(arrays: Arrays, first: int) -> Weights:
    found: Weights = {}
    attention = zip(arrays.of("Attention", dimensions=2), arrays.of("Attention", dimensions=1), strict=True)
    for number, (weight, bias) in enumerate(attention, first):
        parts = ("query", "key", "value"), np.split(weight, 3, 1), np.split(bias, 3)
        for part, own, own_bias in zip(*parts, strict=True):
            name = f"{LAYER}.{number}.attention.self.{part}"
            found |= {f"{name}.weight": own.T, f"{name}.bias": own_bias}
    dense = zip(arrays.of("MatMul", dimensions=2), arrays.of("Add", "BiasGelu", dimensions=1), strict=True)
    for place, (weight, bias) in enumerate(dense):
        name = f"{LAYER}.{first + place // 3}.{DENSE[place % 3]}"
        found |= {f"{name}.weight": weight.T, f"{name}.bias": bias}
    norms = list(arrays.of("SkipLayerNormalization", dimensions=1))
    for place, (gamma, beta) in enumerate(zip(norms[::2], norms[1::2], strict=True)):
        name = f"{LAYER}.{first + place // 2}.{NORMS[place % 2]}"
        found |= {f"{name}.weight": gamma, f"{name}.bias": beta}
    return found


def head(arrays: Arrays, exit: int) -> Weights:
    """Its one score is the difference of the two logits that a trained head has."""
    *inner, (out, bias) = zip(arrays.of("Gemm", dimensions=2), arrays.of("Gemm", dimensions=1), strict=True)
    found = {f"heads.{exit}.out.weight": np.stack((-out[:, 0], out[:, 0])) / 2}
    found[f"heads.{exit}.out.bias"] = np.append(-bias, bias) / 2
    for place, (weight, own_bias) in enumerate(inner):
        name = f"heads.{exit}.dense.{1 + 3 * place}"
        found |= {f"{name}.weight": weight.T, f"{name}.bias": own_bias}
    return found


def unpack(exported: Path, encoder: str, output: Path) -> None:
    """Write the ranker's folder; `exported` is a BERT with heads on the mean, in 8 bits."""
    about = read_shape(exported)
    model = begin(encoder, exits=about["exits"], head=about["head"], max_length=about["max_length"])
    own = model.state_dict()
    first = 0
    for exit in about["exits"]:
        arrays = Arrays(exported / stage_file(exit, safe=True))
        found = layers(arrays, first) | head(arrays, exit) | (embeddings(arrays) if first == 0 else {})
        for name, array in found.items():
            own[name][: len(array)] = torch.from_numpy(array.astype(np.float32))
        first = exit
    model.load_state_dict(own)
    save(model.eval(), output, tokenizer=tokenizer_folder(encoder), card="# The weights of an int8 export, as float\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--exported", type=Path, default=BUNDLED_FOLDER)
    chosen = parser.parse_args()
    unpack(chosen.exported, chosen.encoder, chosen.output)


if __name__ == "__main__":
    main()
