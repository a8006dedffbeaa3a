"""Statistics of a store, and checks for damage: of single entries by checksum, of the whole file by its B-tree."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from lmdb.verify import VerifyError
from lmdb.verify import verify as lmdb_verify

from cascada.core.errors import CascadaError
from cascada.store.entries import CHECKSUM_BYTES, Header, is_intact
from cascada.store.folder import newest_data_file
from cascada.store.lmdb_file import lmdb_errors_as_sentences
from cascada.store.store import Store

ATTEMPTS = 5
"""How often a file that changes during its check is checked again."""

META_BYTES = 2 * mmap.PAGESIZE
"""LMDB's two meta pages at the start of a file: every transaction that writes changes them."""


@dataclass(frozen=True, slots=True)
class Stats:
    """What a store holds, and its size on disk."""

    documents: int
    tokens: int
    entry_bytes: int
    """The sum of all entries."""
    file_bytes: int
    """The data file, with its partly filled and free pages."""
    header: Header

    @property
    def bytes_per_document(self) -> float:
        """Bytes of the file per document."""
        return self.file_bytes / self.documents if self.documents else 0.0

    @property
    def tokens_per_document(self) -> float:
        return self.tokens / self.documents if self.documents else 0.0

    def to_dict(self) -> dict[str, Any]:
        """What `cascada store stats --json` prints."""
        counts = {name: value for name, value in asdict(self).items() if name != "header"}
        averages = {
            "bytes_per_document": round(self.bytes_per_document, 1),
            "tokens_per_document": round(self.tokens_per_document, 1),
        }
        return counts | averages | asdict(self.header)


def stats(store: Store) -> Stats:
    """Count documents and tokens, from the lengths of the entries alone: encodings are not read."""
    documents = tokens = entry_bytes = 0
    for size in store.walk(lambda _, value: len(value)):
        documents += 1
        entry_bytes += size
        tokens += (size - CHECKSUM_BYTES) // store.header.token_bytes
    return Stats(documents, tokens, entry_bytes, store.file_bytes, store.header)


def damaged_keys(store: Store, *, advance: Callable[[int], object] | None = None) -> Iterator[bytes]:
    """The keys of the entries whose checksum is wrong. `advance` is called with 1 for every entry checked."""
    for key, intact in store.walk(lambda key, value: (key, is_intact(key, value, store.header))):
        if advance:
            advance(1)
        if not intact:
            yield key


def check_structure(folder: str | PathLike[str]) -> None:
    """Raise an error if the file's B-tree is inconsistent.

    The file is read without LMDB, which trusts its pages and may crash on damaged ones.
    """
    path = Path(folder)
    for _ in range(ATTEMPTS):
        file = newest_data_file(path)
        with lmdb_errors_as_sentences(path):
            before = _meta_pages(file)
            problems = _problems(file)
            if not problems or before == _meta_pages(file):
                break
    else:
        raise CascadaError(f"{path} is being written to: verify it when that has ended.")
    if problems:
        raise CascadaError(
            f"{path} is damaged beyond single entries ({problems[0]}): build it again with `cascada encode`."
        )


def _problems(file: Path) -> list[str]:
    try:
        return list(lmdb_verify(str(file), subdir=False))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        return [str(error)]


def _meta_pages(file: Path) -> bytes:
    with open(file, "rb") as content:
        return content.read(META_BYTES)
