"""The store: document encodings on disk, computed once for all questions, in LMDB.

From the inside out: `number_formats` and `entries` define the bytes, `lmdb_file`, `folder` and `environment` the files
and transactions, `store` and `shards` the stores themselves; `fill` and `maintenance` work on any store.
"""

from cascada.core.errors import require

require("lmdb", "store", "a store of encodings")

from cascada.store.entries import key_of  # noqa: E402
from cascada.store.fill import Encoder, LoadedInEachProcess, fill, store_for  # noqa: E402
from cascada.store.folder import is_store  # noqa: E402
from cascada.store.maintenance import Stats, check_structure, damaged_keys, stats  # noqa: E402
from cascada.store.number_formats import FORMS  # noqa: E402
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
    "damaged_keys",
    "fill",
    "is_store",
    "key_of",
    "open_store",
    "shard_of",
    "stats",
    "store_for",
]
