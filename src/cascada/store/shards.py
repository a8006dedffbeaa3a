"""A sharded store: each shard is an ordinary store with its share of the texts, so that machines can hold some of them.

The hash of a text determines its shard. Texts of a shard that is not here do not count as missing: looking one up
raises an error that names the shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import listdir
from pathlib import Path

from numpy.typing import ArrayLike

from cascada.core.errors import CascadaError, NotHeld
from cascada.store.entries import key_of
from cascada.store.folder import is_sharded, shard_name, shard_numbers
from cascada.store.number_formats import Floats2d
from cascada.store.store import Source, Store


def shard_of(text: str, shards: int) -> int:
    """The number of the shard that a text belongs to, from 0."""
    return int.from_bytes(key_of(text)[:8], "big") % shards


def open_store(folder: Source, *, fingerprint: str | None = None, write: bool = False) -> Store | ShardedStore:
    """Open the store in a folder, in one piece or sharded."""
    kind = ShardedStore if is_sharded(Path(folder)) else Store
    return kind.open(folder, fingerprint=fingerprint, write=write)


class ShardedStore:
    """Reads and writes as `Store` does, from and to the shards that are in the folder."""

    def __init__(self, folder: Path, stores: dict[int, Store], shards: int) -> None:
        self.folder = folder
        self.shards = shards
        self._stores = stores

    @classmethod
    def open(cls, folder: Source, *, fingerprint: str | None = None, write: bool = False) -> ShardedStore:
        """Open all shards in the folder, which may be fewer than the store has."""
        path = Path(folder)
        present = shard_numbers(listdir(path))
        counts = {shards for _, shards in present}
        if len(counts) != 1:
            listed = " and ".join(map(str, sorted(counts))) or "no"
            raise CascadaError(f"{path} holds parts of stores with {listed} shards: keep each store in its own folder.")
        (shards,) = counts
        stores = {
            number: Store.open(path / shard_name(number, shards), fingerprint=fingerprint, write=write)
            for number, _ in present
        }
        return cls(path, stores, shards)

    @property
    def held(self) -> tuple[int, ...]:
        """The numbers of the shards in the folder."""
        return tuple(self._stores)

    def get(self, texts: Sequence[str]) -> list[Floats2d | None]:
        """The encoding of each text, (tokens, width), or None if its shard does not have it."""
        encodings: list[Floats2d | None] = [None] * len(texts)
        for store, places in self._by_shard(texts):
            for place, encoding in zip(places, store.get([texts[place] for place in places]), strict=True):
                encodings[place] = encoding
        return encodings

    def put(self, texts: Sequence[str], encodings: Sequence[ArrayLike]) -> None:
        """Write the encodings shard by shard: all of a shard's, or none if anything goes wrong."""
        for store, places in self._by_shard(texts):
            store.put([texts[place] for place in places], [encodings[place] for place in places])

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The distinct texts that are not in the store, in order."""
        distinct = list(dict.fromkeys(texts))
        absent = {
            text
            for store, places in self._by_shard(distinct)
            for text in store.missing(distinct[place] for place in places)
        }
        return [text for text in distinct if text in absent]

    def __contains__(self, text: str) -> bool:
        return not self.missing([text])

    def __len__(self) -> int:
        """The number of texts in the shards that are here."""
        return sum(map(len, self._stores.values()))

    def _by_shard(self, texts: Sequence[str]) -> list[tuple[Store, list[int]]]:
        """The stores of these texts, each with the positions of its texts."""
        places: dict[int, list[int]] = {}
        for place, text in enumerate(texts):
            places.setdefault(shard_of(text, self.shards), []).append(place)
        for number in places:
            if number not in self._stores:
                name = shard_name(number, self.shards)
                raise NotHeld(
                    f"{self.folder.name} does not hold {name}, to which {_shortened(texts[places[number][0]])} "
                    "belongs: copy the shard here, or ask a machine that holds it."
                )
        return [(self._stores[number], positions) for number, positions in places.items()]


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
