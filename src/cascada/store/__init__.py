"""The store: documents encoded once, on disk, for rankers that meet them again with every question."""

from cascada.core.errors import require

require("lmdb", "store", "a store of encodings")

from cascada.store.fill import Encoder, LoadedInEachProcess, fill, store_for  # noqa: E402
from cascada.store.folder import is_store  # noqa: E402
from cascada.store.format import FORMS  # noqa: E402
from cascada.store.maintenance import Stats, check_structure, damaged, stats  # noqa: E402
from cascada.store.shards import ShardedStore, open_store, shard_of  # noqa: E402
from cascada.store.store import Store  # noqa: E402

__all__ = [
    "FORMS",
    "Encoder",
    "LoadedInEachProcess",
    "ShardedStore",
    "Stats",
    "Store",
    "check_structure",
    "damaged",
    "fill",
    "is_store",
    "open_store",
    "shard_of",
    "stats",
    "store_for",
]
