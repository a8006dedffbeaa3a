"""A store in shards: each an ordinary store with its share of the texts, so that several machines can hold a part.

A text's shard follows from its hash. Where a shard is not held, its texts are not taken to be missing: asking for one
of them is an error that names the shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import listdir
from pathlib import Path

from numpy.typing import ArrayLike

from cascada.core.errors import CascadaError, NotHeld
from cascada.store import entry
from cascada.store.folder import is_sharded, shard_name, shard_numbers
from cascada.store.format import Floats2d
from cascada.store.store import Source, Store


def shard_of(text: str, shards: int) -> int:
    """The number, from 0, of the shard a text belongs to."""
    return int.from_bytes(entry.key(text)[:8], "big") % shards


def open_store(folder: Source, *, fingerprint: str | None = None, write: bool = False) -> Store | ShardedStore:
    """The store in a folder, in one piece or in shards."""
    kind = ShardedStore if is_sharded(Path(folder)) else Store
    return kind.open(folder, fingerprint=fingerprint, write=write)


class ShardedStore:
    """Reads and writes as `Store` does, from and to the shards that are held here."""

    def __init__(self, folder: Path, stores: dict[int, Store], shards: int) -> None:
        self.folder = folder
        self.shards = shards
        self._stores = stores

    @classmethod
    def open(cls, folder: Source, *, fingerprint: str | None = None, write: bool = False) -> ShardedStore:
        """All shards of the folder, of which there may be fewer than the store has."""
        path = Path(folder)
        found = shard_numbers(listdir(path))
        counts = {shards for _, shards in found}
        if len(counts) != 1:
            said = " and ".join(map(str, sorted(counts))) or "no"
            raise CascadaError(f"{path} holds parts of stores with {said} shards: keep each store in its own folder.")
        (shards,) = counts
        opened = {
            number: Store.open(path / shard_name(number, shards), fingerprint=fingerprint, write=write)
            for number, _ in found
        }
        return cls(path, opened, shards)

    @property
    def held(self) -> tuple[int, ...]:
        """The numbers of the shards that are here."""
        return tuple(self._stores)

    def get(self, texts: Sequence[str]) -> list[Floats2d | None]:
        """Each text's encoding, (tokens, width); None for what its shard has not."""
        found: list[Floats2d | None] = [None] * len(texts)
        for store, places in self._by_shard(texts):
            for place, encoding in zip(places, store.get([texts[place] for place in places]), strict=True):
                found[place] = encoding
        return found

    def put(self, texts: Sequence[str], encodings: Sequence[ArrayLike]) -> None:
        """Keep them, shard by shard: all of a shard's, or none of them if anything goes wrong."""
        for store, places in self._by_shard(texts):
            store.put([texts[place] for place in places], [encodings[place] for place in places])

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Those that are not there, each once, in order."""
        wanted = list(dict.fromkeys(texts))
        absent = {
            text
            for store, places in self._by_shard(wanted)
            for text in store.missing(wanted[place] for place in places)
        }
        return [text for text in wanted if text in absent]

    def __contains__(self, text: str) -> bool:
        return not self.missing([text])

    def __len__(self) -> int:
        """Texts in the shards that are held."""
        return sum(map(len, self._stores.values()))

    def _by_shard(self, texts: Sequence[str]) -> list[tuple[Store, list[int]]]:
        """The stores that are needed, each with the places of its texts."""
        places: dict[int, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(shard_of(text, self.shards), []).append(place)
        for number in places:
            if number not in self._stores:
                name = shard_name(number, self.shards)
                raise NotHeld(
                    f"{self.folder.name} holds no {name}, to which {_start(texts[places[number][0]])} belongs: "
                    "bring it here, or ask where it is held."
                )
        return [(self._stores[number], own) for number, own in places.items()]


def _start(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
