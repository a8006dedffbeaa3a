"""ONNX graphs, built operator by operator, and the file that holds the weights of several graphs.

Nothing is traced: a graph consists of operators for which ONNX Runtime has fast kernels. The graph of a stage has these
inputs and outputs:

| input | shape | |
|---|---|---|
| `ids`, `types` | (pairs, tokens) int32 | of the first stage |
| `states` | (pairs, tokens, hidden) | of later stages: the `states_out` of the stage before |
| `lengths` | (pairs,) int32 | the number of real tokens; padding follows them |

| output | shape | |
|---|---|---|
| `scores` | (pairs,) | the logit of correct minus that of incorrect |
| `states_out` | (pairs, tokens, hidden) | of all stages but the last |
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

FUSED = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""

OPSET, FUSED_OPSET, IR = 17, 1, 8
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}


@dataclass
class Graph:
    """Nodes and constants. A method that adds an operator returns the name of its output."""

    weights_file: WeightsFile | None = None
    """The file for large constants; without it they are stored in the graph."""
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
        outside = self.weights_file is not None and array.nbytes >= LARGE
        self.constants[name] = self.weights_file.add(array, name) if outside else numpy_helper.from_array(array, name)  # type: ignore[union-attr]
        return name

    def rename(self, old: str, new: str) -> None:
        for node in self.nodes:
            for names in (node.input, node.output):
                for place, name in enumerate(names):
                    if name == old:
                        names[place] = new


def model_of(graph: Graph, inputs: list[Any], outputs: list[Any]) -> onnx.ModelProto:
    """The graph as a complete ONNX model."""
    content = helper.make_graph(graph.nodes, "stage", inputs, outputs, list(graph.constants.values()))
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, FUSED_OPSET)]
    return helper.make_model(content, opset_imports=versions, ir_version=IR, producer_name="cascada")


LARGE = 1024
"""Constants of at least this many bytes are stored in the weights file."""

ALIGNED = 4096
"""The alignment of arrays in bytes, so that the runtime can map them into memory."""


class WeightsFile:
    """Concatenates arrays in a file; an array that several graphs use is stored once."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file = file
        self.name = name
        self._places: dict[bytes, int] = {}

    def offset_of(self, array: NDArray[Any]) -> int:
        """The place of an array in the file; it is stored if it is not there yet."""
        content = array.tobytes()
        digest = hashlib.sha256(content).digest()
        if digest not in self._places:
            self.file.write(b"\0" * (-self.file.tell() % ALIGNED))
            self._places[digest] = self.file.tell()
            self.file.write(content)
        return self._places[digest]

    def add(self, array: NDArray[Any], name: str) -> TensorProto:
        """Store an array, and return the constant of a graph that refers to its place in the file."""
        tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
        tensor.data_location = TensorProto.EXTERNAL
        where = {"location": self.name, "offset": self.offset_of(array), "length": array.nbytes}
        for key, value in where.items():
            tensor.external_data.add(key=key, value=str(value))
        return tensor
