"""A key-value cache on disk with a size limit: the oldest entries are evicted first.

One LMDB file with two databases:

| database | key | value |
|---|---|---|
| `values` | the user's key | CRC-32 of key and value (4 bytes), the entry's number (8 bytes), the value |
| `order` | the entry's number, big-endian: ascending in time | the user's key |

Once a cache is open, errors of the disk or of LMDB are counted and treated as misses, never raised. Several processes
and threads may use one folder.
"""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from queue import Full, Queue
from threading import Lock, Thread
from typing import Any
from zlib import crc32

import lmdb

from cascada.core.errors import CascadaError
from cascada.store.lmdb_file import DAMAGED, open_lmdb
from cascada.store.read_write_lock import ReadWriteLock

FILE = "cache-1.mdb"
"""The number is the format's: a cache of another format is left alone and not read."""

MAP_BYTES = 1 << 36
"""Address space, the same in every process, so that no process's writes are beyond the map of another."""

LARGEST = MAP_BYTES >> 1
SMALLEST = 8 << 20
"""Bytes of a cache's limit."""

FILLED = 0.6
"""The share of the limit that entries may fill. LMDB writes changed pages anew before it reuses the old ones."""

AT_ONCE = 64
"""Entries in one transaction. Keys are random, so that each changes a page of its own."""

PENDING = 64
"""Writes that may wait; further ones are dropped."""

RETRY_SECONDS = 30.0
"""How long a cache that failed, say because the disk was full, is left alone before it is opened again."""

NUMBER_BYTES, CHECKSUM_BYTES = 8, 4

Entries = Sequence[tuple[bytes, bytes]]


class BoundedCache:
    """Values of at most a few kilobytes by key, in a folder of their own. Writing happens in a thread; see `flush`.

    `open_cache` gives every user of a folder in this process the same object. After a fork, open it again.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.errors = 0
        """Reads and writes that failed, and writes that were dropped because too many were waiting."""
        self._lock = ReadWriteLock()
        """Shared by transactions; held exclusively to open the file again."""
        self._failed_at: float | None = None
        self._damaged = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lmdb, self._values, self._order = _open_or_replace(folder / FILE)
        except (lmdb.Error, OSError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CascadaError(f"The cache {folder} cannot be used: {reason}.") from error
        self._pending: Queue[Entries | None] = Queue(PENDING)
        writer = Thread(target=_write_pending, args=(self._pending, self._write), daemon=True, name="cascada-cache")
        writer.start()
        atexit.register(self.flush)

    def __reduce__(self) -> tuple[Any, ...]:
        return open_cache, (self.folder, self.max_bytes)

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The value of each key; None if it is not there, or cannot be read."""
        nothing: list[bytes | None] = [None] * len(keys)
        if not self._usable():
            return nothing
        try:
            with self._lock.shared(), self._lmdb.begin(db=self._values, buffers=True) as transaction:
                return [_value(key, transaction.get(key)) for key in keys]
        except (lmdb.Error, OSError) as error:
            self._fail(error)
            return nothing

    def put(self, entries: Entries) -> None:
        """Add entries, in another thread; a key that is there gets the new value and becomes the newest."""
        try:
            self._pending.put_nowait(entries)
        except Full:
            self.errors += 1

    def flush(self) -> None:
        """Wait until all that was put is written, or has failed."""
        self._pending.join()

    def __len__(self) -> int:
        """The number of entries; 0 if they cannot be counted."""
        try:
            with self._lock.shared(), self._lmdb.begin() as transaction:
                return transaction.stat(self._values)["entries"]
        except (lmdb.Error, OSError):
            return 0

    @property
    def bytes(self) -> int:
        """The size of the data file."""
        try:
            return (self.folder / FILE).stat().st_size
        except OSError:
            return 0

    def _write(self, entries: Entries) -> None:
        if not self._usable():
            self.errors += 1
            return
        try:
            for start in range(0, len(entries), AT_ONCE):
                with self._lock.shared(), self._lmdb.begin(write=True) as transaction:
                    self._add(transaction, entries[start : start + AT_ONCE])
                    self._evict(transaction)
        except (lmdb.Error, OSError) as error:
            self._fail(error)

    def _add(self, transaction: Any, entries: Entries) -> None:
        cursor = transaction.cursor(self._order)
        number = int.from_bytes(cursor.key(), "big") if cursor.last() else 0
        for key, value in entries:
            number += 1
            before = transaction.get(key, db=self._values)
            if before is not None:
                transaction.delete(before[CHECKSUM_BYTES : CHECKSUM_BYTES + NUMBER_BYTES], db=self._order)
            packed = number.to_bytes(NUMBER_BYTES, "big")
            transaction.put(key, _checksum(key, value) + packed + value, db=self._values)
            transaction.put(packed, key, db=self._order)

    def _evict(self, transaction: Any) -> None:
        """Remove the oldest entries if there are too many: twice as many as a transaction adds, so as to catch up."""
        if self._used(transaction) <= FILLED * self.max_bytes:
            return
        self._lmdb.reader_check()  # a reader that was killed would keep old pages from being reused
        cursor = transaction.cursor(self._order)
        for _ in range(2 * AT_ONCE):
            if not cursor.first():
                return
            transaction.delete(cursor.value(), db=self._values)
            cursor.delete()

    def _used(self, transaction: Any) -> int:
        counts = [transaction.stat(database) for database in (self._values, self._order)]
        pages = sum(count["branch_pages"] + count["leaf_pages"] + count["overflow_pages"] for count in counts)
        return int(pages * counts[0]["psize"])

    def _fail(self, error: lmdb.Error | OSError) -> None:
        self.errors += 1
        self._damaged |= isinstance(error, DAMAGED)
        self._failed_at = time.monotonic()

    def _usable(self) -> bool:
        """False for a while after a failure; then the file is opened again, as LMDB may have given up on it."""
        if self._failed_at is None:
            return True
        if time.monotonic() - self._failed_at < RETRY_SECONDS:
            return False
        with self._lock.exclusive():
            if self._failed_at is not None:
                self._failed_at = time.monotonic()
                with suppress(lmdb.Error, OSError):
                    self._lmdb.close()
                    if self._damaged:
                        _remove(self.folder / FILE)
                    self._lmdb, self._values, self._order = _open_or_replace(self.folder / FILE)
                    self._failed_at, self._damaged = None, False
        return self._failed_at is None


def _write_pending(pending: Queue[Entries | None], write: Any) -> None:
    while True:
        entries = pending.get()
        try:
            if entries:
                write(entries)
        finally:
            pending.task_done()


def _open_or_replace(file: Path) -> tuple[lmdb.Environment, Any, Any]:
    """Open a cache's file. One that is damaged is replaced by an empty one: all that is lost is time."""
    try:
        return _open(file)
    except DAMAGED:
        _remove(file)
        return _open(file)


def _remove(file: Path) -> None:
    for path in (file, file.with_name(f"{file.name}-lock")):
        path.unlink(missing_ok=True)


def _open(file: Path) -> tuple[lmdb.Environment, Any, Any]:
    if not file.exists():
        with lmdb.open(str(file), subdir=False, map_size=MAP_BYTES, max_dbs=2, mode=0o600):
            pass
    opened = open_lmdb(file, write=True, map_size=MAP_BYTES, databases=2)
    try:
        _fill_up(file, (opened.info()["last_pgno"] + 1) * opened.stat()["psize"])
        return opened, opened.open_db(b"values"), opened.open_db(b"order")
    except lmdb.Error:
        opened.close()
        raise


def _fill_up(file: Path, size: int) -> None:
    """Extend the file to the size that LMDB expects. If its end was cut off, LMDB then reads zeros there and reports
    damage; reading a mapped file beyond its end would kill the process."""
    if file.stat().st_size < size and hasattr(os, "posix_fallocate"):
        with open(file, "r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, size)  # unlike truncating, this never shortens what others extend


def _value(key: bytes, packed: memoryview | None) -> bytes | None:
    if packed is None:
        return None
    value = bytes(packed[CHECKSUM_BYTES + NUMBER_BYTES :])
    return value if packed[:CHECKSUM_BYTES] == _checksum(key, value) else None


def _checksum(key: bytes, value: bytes) -> bytes:
    return crc32(value, crc32(key)).to_bytes(CHECKSUM_BYTES, "little")


_caches: dict[Path, BoundedCache] = {}
_caches_lock = Lock()


def open_cache(folder: str | os.PathLike[str], max_bytes: int) -> BoundedCache:
    """The cache in a folder, which is made if it is missing; one object per process. The last limit given counts.

    Raises an error if the folder cannot be used, or holds other files: a mistake is better found at the start.
    """
    path = Path(folder).resolve()
    if not SMALLEST <= max_bytes <= LARGEST:
        raise CascadaError(
            f"The cache has a limit of {max_bytes:,} bytes; it must be {SMALLEST >> 20} to {LARGEST >> 20:,} MB."
        )
    if path.exists() and not path.is_dir():
        raise CascadaError(f"{folder} is a file; a cache needs a folder of its own.")
    with _caches_lock:
        if path.is_dir() and any(not name.startswith("cache-") for name in os.listdir(path)):
            raise CascadaError(f"{folder} holds something else: give the cache a folder of its own.")
        known = _caches.get(path)
        if known is None:
            known = _caches[path] = BoundedCache(path, max_bytes)
        known.max_bytes = max_bytes
        return known
