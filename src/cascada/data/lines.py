"""Lines of a text file with their place, so that every complaint about the data can name file and line."""

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
        """A complaint that names the place."""
        return DataError.at(self.path, self.number, problem)


class RawLine(NamedTuple):
    """A line nobody has looked into yet."""

    path: Source
    number: int
    raw: bytes

    def decoded(self) -> Line:
        """Its text, or a complaint that it is none."""
        return Line(self.path, self.number, _decoded(self.raw, self.path, self.number))


def lines(path: Source) -> Iterator[Line]:
    r"""Stream a UTF-8 file, plain or `.gz`. A line ends at `\n` alone: texts hold `\x85` and `\u2028` as characters."""
    for line in raw_lines(path):
        yield line.decoded()


def raw_lines(path: Source, advance: Callable[[int], object] | None = None) -> Iterator[RawLine]:
    """The bytes of each line. `advance` hears how many bytes of the file (packed, if it is) were read meanwhile."""
    number = position = 0
    try:
        with open(path, "rb") as file, _unpacked(file, path) as unpacked:
            for number, raw in enumerate(unpacked, 1):
                yield RawLine(path, number, raw)
                if advance and file.seekable():
                    before, position = position, file.tell()
                    advance(position - before)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError.at(path, number + 1, f"the gzip file is damaged or cut off here ({error})") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def records(path: Source, expected: str) -> Iterator[Line]:
    """The lines of a file with one record a line.

    Empty lines at the end carry nothing and pass. One in the middle is a mistake, and so is a file without records.
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


def _unpacked(file: IO[bytes], path: Source) -> IO[bytes]:
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
