"""Files as documents, one format a file; what a suffix means is listed here."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from cascada.core.errors import DataError
from cascada.search.formats import html, jsonl, pdf, plain
from cascada.search.passages import Document

READERS: dict[str, Callable[[Path], Iterator[Document]]] = {
    ".txt": plain.read,
    ".md": plain.read,
    ".html": html.read,
    ".htm": html.read,
    ".pdf": pdf.read,
    ".jsonl": jsonl.read,
}
KNOWN = "Cascada reads .txt, .md, .html, .pdf and .jsonl files"

LARGEST = 100_000_000
"""Bytes of a file that is read whole. JSONL is read line by line, so a corpus in one file may be of any size."""


def read(path: Path) -> Iterator[Document]:
    """The documents of a file: one, or in JSONL one a line. What is wrong with it is a `DataError` with its name."""
    if path.is_dir():
        raise DataError(f"{path} is a folder whose files cannot be listed.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path} cannot be read: {KNOWN}.")
    size = status(path).st_size
    if size > LARGEST and reader is not jsonl.read:
        raise DataError(f"{path} is too large: {size:,} bytes, and at most {LARGEST:,} are read; divide it.")
    return reader(path)


def status(path: Path) -> os.stat_result:
    """Size and time of a file; a pipe or a device could keep a reader waiting forever, and is none."""
    try:
        found = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    if not stat.S_ISREG(found.st_mode):
        raise DataError(f"{path} cannot be read: it is not a file.")
    return found
