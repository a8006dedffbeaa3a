"""Files as documents: one module per format, chosen by the file's suffix."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from cascada.core.errors import DataError
from cascada.search.formats import html, jsonl, pdf, plain
from cascada.search.passage import Document

READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    ".txt": plain.read,
    ".md": plain.read,
    ".html": html.read,
    ".htm": html.read,
    ".pdf": pdf.read,
    ".jsonl": jsonl.read,
}
KNOWN = "Cascada reads .txt, .md, .html, .pdf and .jsonl files"

MAX_BYTES = 100_000_000
"""Bytes of a file that is read whole. JSONL is read line by line, so such a file may be of any size."""


def read(path: Path) -> Iterator[Document]:
    """The documents of a file: one, or in JSONL one per line. A file that cannot be read raises a `DataError`."""
    if path.is_dir():
        raise DataError(f"{path} is a folder whose files cannot be listed.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path} cannot be read: {KNOWN}.")
    size = status(path).st_size
    if size > MAX_BYTES and reader is not jsonl.read:
        raise DataError(f"{path} is too large: {size:,} bytes, and at most {MAX_BYTES:,} are read; divide it.")
    return reader(path)


def status(path: Path) -> os.stat_result:
    """Size and modification time of a file. Pipes and devices, which could block a reader forever, are rejected."""
    try:
        result = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    if not stat.S_ISREG(result.st_mode):
        raise DataError(f"{path} cannot be read: it is not a file.")
    return result
