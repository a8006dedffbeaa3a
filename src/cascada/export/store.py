"""One file of weights for all graphs of a ranker."""

from __future__ import annotations

import hashlib
from typing import IO, Any

from numpy.typing import NDArray
from onnx import TensorProto, helper

LARGE = 1024
"""Bytes from which on a constant goes into the file."""

ALIGNED = 4096
"""So that the runtime can map it into memory as it is."""


class Store:
    """Arrays end to end in a file, each only once, whatever number of graphs has it."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file = file
        self.name = name
        self._places: dict[bytes, int] = {}

    def add(self, array: NDArray[Any], name: str) -> TensorProto:
        """The array as a constant of a graph that says where in the file it is."""
        content = array.tobytes()
        digest = hashlib.sha256(content).digest()
        if digest not in self._places:
            self.file.write(b"\0" * (-self.file.tell() % ALIGNED))
            self._places[digest] = self.file.tell()
            self.file.write(content)
        tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape)
        tensor.data_location = TensorProto.EXTERNAL
        where = {"location": self.name, "offset": self._places[digest], "length": len(content)}
        for key, value in where.items():
            tensor.external_data.add(key=key, value=str(value))
        return tensor
