"""How large a store is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from cascada.store import entry
from cascada.store.header import Header
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
