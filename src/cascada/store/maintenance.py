"""Every entry of a store, a few at a time: one long transaction would keep a writer from using old pages again."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from lmdb.verify import VerifyError
from lmdb.verify import verify as problems_of

from cascada.core.errors import CascadaError
from cascada.store import entry
from cascada.store.folder import newest
from cascada.store.format import Header
from cascada.store.lmdb_file import told
from cascada.store.store import Store


@dataclass(frozen=True, slots=True)
class Stats:
    """What a store holds, and what it takes on disk."""

    documents: int
    tokens: int
    entry_bytes: int
    """Of the entries themselves."""
    file_bytes: int
    """Of the data file: pages that are not full, and holes, are in it."""
    header: Header

    @property
    def bytes_per_document(self) -> float:
        """On disk, on average."""
        return self.file_bytes / self.documents if self.documents else 0.0

    @property
    def tokens_per_document(self) -> float:
        """On average."""
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
    """Counted from the lengths of the entries alone: the encodings are not read."""
    documents = tokens = entry_bytes = 0
    for size in store.walk(lambda _, value: len(value)):
        documents += 1
        entry_bytes += size
        tokens += (size - entry.CHECKSUM) // store.header.token_bytes
    return Stats(documents, tokens, entry_bytes, store.file_bytes, store.header)


TRIES = 5


_METAS = 2 * mmap.PAGESIZE
"""Where LMDB says which pages are in use: every change of the file changes this part."""


def damaged(store: Store, *, advance: Callable[[int], object] | None = None) -> Iterator[bytes]:
    """The keys of the entries whose checksum is wrong. `advance` hears of every entry that was looked at."""
    for name, sound in store.walk(lambda name, value: (name, entry.is_sound(name, value, store.header))):
        if advance:
            advance(1)
        if not sound:
            yield name


def check_structure(folder: str | PathLike[str]) -> None:
    """Refuse a store whose file hangs together badly, before LMDB, which trusts its pages, opens it."""
    path = Path(folder)
    for _ in range(TRIES):
        file = newest(path)
        with told(path):
            before = _metas(file)
            found = _problems(file)
            if not found or before == _metas(file):
                break
    else:
        raise CascadaError(f"{path} is being written to: verify it when that has ended.")
    if found:
        raise CascadaError(f"{path} is damaged beyond single entries ({found[0]}): make it anew with `cascada encode`.")


def _problems(file: Path) -> list[str]:
    try:
        return list(problems_of(str(file), subdir=False))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        return [str(error)]


def _metas(file: Path) -> bytes:
    with open(file, "rb") as opened:
        return opened.read(_METAS)
