"""Lines of a text file with their numbers, so that every error in the data can name file and line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from os import PathLike
from typing import IO, NamedTuple, cast

from cascada.core.errors import DataError

Source = str | PathLike[str]


class Line(NamedTuple):
    """One line of a file."""

    path: Source
    number: int
    """Counted from 1."""
    text: str

    def error(self, problem: str) -> DataError:
        """An error that names the file and the line."""
        return DataError.at(self.path, self.number, problem)


class RawLine(NamedTuple):
    """A line that is not decoded yet."""

    path: Source
    number: int
    raw: bytes

    def decoded(self) -> Line:
        """Decode the line; raise DataError if it is not UTF-8."""
        return Line(self.path, self.number, _decoded(self.raw, self.path, self.number))


def lines(path: Source) -> Iterator[Line]:
    r"""Stream a UTF-8 file, plain or `.gz`. Only `\n` ends a line: texts may contain `\x85` and `\u2028`."""
    for line in raw_lines(path):
        yield line.decoded()


def raw_lines(path: Source, advance: Callable[[int], object] | None = None) -> Iterator[RawLine]:
    """Stream undecoded lines. `advance` is called with the number of bytes (of a `.gz`, compressed bytes) just read."""
    number = position = 0
    try:
        with open(path, "rb") as file, _decompressed(file, path) as content:
            for number, raw in enumerate(content, 1):
                yield RawLine(path, number, raw)
                if advance and file.seekable():
                    before, position = position, file.tell()
                    advance(position - before)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError.at(path, number + 1, f"the gzip file is damaged or truncated here ({error})") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def records(path: Source, expected: str) -> Iterator[Line]:
    """Stream the lines of a file that has one record per line.

    Empty lines at the end are ignored. An empty line before a record is an error, and so is a file without records.
    """
    blank: Line | None = None
    line: Line | None = None
    for line in lines(path):
        if not line.text:
            blank = blank or line
        elif blank:
            raise blank.error(f"expected {expected}, found an empty line")
        else:
            yield line
    if line is None or (blank and blank.number == 1):
        raise DataError(f"{path} is empty: expected {expected}")


def _decompressed(file: IO[bytes], path: Source) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(file, "rb")) if str(path).endswith(".gz") else file


def _decoded(raw: bytes, path: Source, number: int) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{raw[error.start]:02x} at column {error.start + 1}"
        raise DataError.at(path, number, f"expected UTF-8 text, found {byte}; save the file as UTF-8") from error
    if number == 1:
        text = text.removeprefix("\ufeff")
    return text.removesuffix("\n").removesuffix("\r")
