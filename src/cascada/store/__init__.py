"""The store: documents encoded once, on disk, for rankers that meet them again with every question."""

from cascada.errors import require

require("lmdb", "store", "a store of encodings")

from cascada.store.encoder import Encoder, LoadedInEachProcess  # noqa: E402
from cascada.store.files import is_store  # noqa: E402
from cascada.store.fill import fill  # noqa: E402
from cascada.store.for_encoder import store_for  # noqa: E402
from cascada.store.forms import FORMS  # noqa: E402
from cascada.store.shards import ShardedStore, open_store, shard_of  # noqa: E402
from cascada.store.stats import Stats, stats  # noqa: E402
from cascada.store.store import Store  # noqa: E402
from cascada.store.verify import check_structure, damaged  # noqa: E402

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
