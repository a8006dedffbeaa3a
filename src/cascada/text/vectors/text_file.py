"""Vectors as text: a word and its numbers on each line (GloVe), after a line with two counts (word2vec)."""

from __future__ import annotations

import gzip
from collections.abc import Container, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import DataError


def read(path: Path, wanted: Container[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Those of the wanted words that the file has, in its order."""
    size = None
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip(b"\r\n ").split(b" ")
            if number == 1 and len(fields) == 2:
                size = int(fields[1]) if fields[1].isdigit() else None
                continue
            size = size or len(fields) - 1
            if len(fields) <= size:
                raise DataError.at(path, number, f"expected a word and {size} numbers, found {len(fields)} fields.")
            word = b" ".join(fields[:-size]).decode("utf-8", "replace")  # GloVe 840B has words with spaces: `. . .`
            if word in wanted:
                yield word, _numbers(fields[-size:], path, number)


def opened(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _numbers(fields: list[bytes], path: Path, line: int) -> NDArray[np.float32]:
    try:
        return np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise DataError.at(path, line, f"expected numbers after the word ({error}).") from error
