"""A file of vectors that grows at its end, mapped into memory and searched by the inner product with every row.

A row is a key of 16 bytes and a vector of float32, side by side, so that one write adds both. After a kill or on a full
disk, an incomplete last row is ignored, and cut off by the next writer.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write_bytes

Floats = NDArray[np.float32]
Rows = NDArray[Any]  # of `Vectors.row`

KEY_BYTES = 16


class Vectors:
    """Keys and their vectors. One process may append while others search: they see new rows with their next call."""

    def __init__(self, file: Path, width: int) -> None:
        self.file = file
        self.row = np.dtype([("key", f"V{KEY_BYTES}"), ("vector", "<f4", (width,))])
        self._mapped: tuple[tuple[int, int], Rows] | None = None

    def __len__(self) -> int:
        return len(self._rows())

    def keys(self) -> list[bytes]:
        """The key of each row."""
        packed = self._rows()["key"].tobytes()
        return [packed[start : start + KEY_BYTES] for start in range(0, len(packed), KEY_BYTES)]

    def nearest(self, vector: Floats, count: int) -> list[bytes]:
        """The keys of the rows with the largest inner products, best first."""
        rows = self._rows()
        products = rows["vector"] @ vector  # (rows,)
        others = max(len(products) - count, 0)
        best = np.argpartition(products, others)[others:] if others else np.arange(len(products))
        return [rows["key"][row].tobytes() for row in best[np.argsort(-products[best], kind="stable")]]

    def append(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add rows, and wait until they are on the disk."""
        rows = np.empty(len(keys), self.row)
        rows["key"] = np.frombuffer(b"".join(keys), self.row["key"])
        rows["vector"] = vectors
        try:
            with open(self.file, "ab", buffering=0) as file:
                file.truncate(self._whole_rows(file.tell()))
                written = file.write(rows.tobytes())
                os.fsync(file.fileno())
        except OSError as error:
            raise self._write_error(error.strerror or str(error)) from error
        if written != rows.nbytes:
            raise self._write_error("the disk is full")

    def retain(self, keys: set[bytes]) -> None:
        """Write the file again with the rows of these keys only; it is replaced once it is complete."""
        rows = self._rows()
        wanted = [row for row, key in enumerate(self.keys()) if key in keys]
        with atomic_write_bytes(self.file) as file:
            file.write(rows[wanted].tobytes())

    def _whole_rows(self, size: int) -> int:
        return size - size % self.row.itemsize

    def _rows(self) -> Rows:
        """The complete rows as they are on the disk now."""
        try:
            now = os.stat(self.file)
        except FileNotFoundError:
            return np.empty(0, self.row)
        size = self._whole_rows(now.st_size)
        if self._mapped is None or self._mapped[0] != (now.st_ino, size):
            shape = (size // self.row.itemsize,)
            mapped = np.memmap(self.file, self.row, "r", shape=shape) if size else np.empty(0, self.row)
            self._mapped = (now.st_ino, size), mapped.view(np.ndarray)
        return self._mapped[1]

    def _write_error(self, reason: str) -> CascadaError:
        kept = "What was finished is kept: free some space, and the same command resumes."
        return CascadaError(f"{self.file} could not be written: {reason}. {kept}")
