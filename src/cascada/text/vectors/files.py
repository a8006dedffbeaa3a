"""Vector files of GloVe and word2vec, as text or binary, gzipped or not."""

from __future__ import annotations

import gzip
from collections.abc import Container, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError, DataError


def read_text(path: Path, wanted: Container[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the wanted words of a text file with their vectors, in its order.

    Each line has a word and its numbers (GloVe); word2vec adds a first line with two counts.
    """
    size = None
    with _opened(path) as file:
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


def read_binary(path: Path, wanted: Container[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the wanted words of a word2vec binary file with their vectors, in its order.

    The file has a line with two counts, then each word, a space and its float32 numbers.
    """
    with _opened(path) as file:
        try:
            count, size = map(int, file.readline(100).split())
        except ValueError as error:
            raise CascadaError(f"{path} does not begin with two counts, as word2vec's binary files do.") from error
        for _ in range(count):
            word = _word(file)
            content = file.read(4 * size)
            if len(content) < 4 * size:
                raise CascadaError(f"{path} ends before the last of its {count:,} vectors: it is incomplete.")
            if word in wanted:
                yield word, np.frombuffer(content, "<f4").astype(np.float32)


def _opened(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _numbers(fields: list[bytes], path: Path, line: int) -> NDArray[np.float32]:
    try:
        return np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise DataError.at(path, line, f"expected numbers after the word ({error}).") from error


def _word(file: BinaryIO) -> str:
    """Read up to the space. Some writers end each vector with a newline, which is skipped."""
    word = bytearray()
    while (byte := file.read(1)) not in (b" ", b""):
        word += byte
    return word.lstrip(b"\n").decode("utf-8", "replace")
