"""Vectors as word2vec's binary file: a line with two counts, then each word, a space, and its numbers as bytes."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.text.vectors.text_file import opened


def read(path: Path, wanted: Container[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Those of the wanted words that the file has, in its order."""
    with opened(path) as file:
        try:
            count, size = map(int, file.readline(100).split())
        except ValueError as error:
            raise CascadaError(f"{path} does not begin with two counts, as word2vec's binary files do.") from error
        for _ in range(count):
            word = _word(file)
            content = file.read(4 * size)
            if len(content) < 4 * size:
                raise CascadaError(f"{path} ends before its {count:,} vectors do: it is incomplete.")
            if word in wanted:
                yield word, np.frombuffer(content, "<f4").astype(np.float32)


def _word(file: BinaryIO) -> str:
    """Up to the space; some writers end each vector with a new line, others do not."""
    word = bytearray()
    while (sign := file.read(1)) not in (b" ", b""):
        word += sign
    return word.lstrip(b"\n").decode("utf-8", "replace")
