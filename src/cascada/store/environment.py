"""Transactions on a store's data file, while other threads and processes let it grow, compact it or replace it.

LMDB allows a file to be open once per process: `environment` gives every user of a folder the same `Environment`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

import lmdb

from cascada.core.errors import CascadaError
from cascada.store.entries import HEADER_KEY, Header
from cascada.store.folder import newest_data_file, next_data_file, remove_older
from cascada.store.lmdb_file import error_code, is_disk_full, lmdb_errors_as_sentences, open_lmdb
from cascada.store.read_write_lock import ReadWriteLock

if TYPE_CHECKING:
    from lmdb import Transaction

Result = TypeVar("Result")
Work = Callable[["Transaction[memoryview]"], Result]
Visit = Callable[[bytes, memoryview], Result]

WALK_ENTRIES = 256
"""Entries that `Environment.walk` visits in one transaction."""


class Environment:
    """Runs transactions on the newest data file of a folder, also after another process has compacted the store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writable = False
        self._lock = ReadWriteLock()
        """Shared by transactions; held exclusively to close, open or resize the file."""
        self._file: tuple[Path, int] | None = None
        with lmdb_errors_as_sentences(folder):
            self._open()
        self.header = self._read_header()

    def run(self, work: Work[Result], *, write: bool = False) -> Result:
        """Call `work` in a transaction and return its result: all that it writes is kept, or nothing.

        `work` is called again if the memory map was too small. Buffers of the transaction must not outlive it.
        """
        with lmdb_errors_as_sentences(self.folder):
            while True:
                self.follow()
                try:
                    with self._lock.shared(), self._lmdb.begin(write=write, buffers=True) as transaction:
                        if not write or self._is_current():  # else it was compacted while this one waited to write
                            return work(transaction)
                except lmdb.MapResizedError:  # by another process
                    self._resize(grow=False)
                except lmdb.MapFullError:
                    self._resize(grow=True)
                except lmdb.Error as error:
                    if is_disk_full(error):
                        self._reopen()  # LMDB may have marked this environment as unusable
                    raise

    def walk(self, visit: Visit[Result]) -> Iterator[Result]:
        """Yield what `visit` returns for each entry's key and value, in the order of the keys.

        Each transaction covers a few entries: a long one would keep writers from reusing old pages.
        """
        after: bytes | None = b""
        while after is not None:
            results, after = self.run(partial(_visit_some, visit, after))
            yield from results

    def compact(self) -> None:
        """Write the next data file, in key order and without free pages, and remove the older ones."""
        # The transaction writes nothing: it keeps other writers waiting until the new file is in place.
        self.run(lambda _: self._write_next_file(), write=True)
        remove_older(self.folder)

    def follow(self) -> None:
        """Switch to the newest data file, which must be of the same encoder."""
        if self._is_current():
            return
        self._reopen()
        if self._read_header() != self.header:
            with self._lock.exclusive():
                self._close()
            raise CascadaError(f"{self.folder} was replaced by a store of another model while in use: open it again.")

    def make_writable(self) -> None:
        if not self.writable:
            self.writable = True
            try:
                with lmdb_errors_as_sentences(self.folder):
                    self._reopen()
            except CascadaError:
                self.writable = False
                raise

    def _write_next_file(self) -> None:
        temporary = self.folder / "compacting.part"
        temporary.unlink(missing_ok=True)  # left by a compacting that was killed
        try:
            self._lmdb.copy(str(temporary), compact=True)
            with open(temporary, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, next_data_file(self.folder))
        finally:
            temporary.unlink(missing_ok=True)

    def _read_header(self) -> Header:
        packed = self.run(lambda transaction: bytes(transaction.get(HEADER_KEY, b"")))
        return Header.from_bytes(packed, self.folder)

    def _is_current(self) -> bool:
        return self._file is not None and self._file == _identity(newest_data_file(self.folder))

    def _reopen(self) -> None:
        with self._lock.exclusive():
            self._close()
            self._open()

    def _close(self) -> None:
        self._lmdb.close()
        self._file = None

    def _open(self) -> None:
        while not self._is_current():  # again if the store was compacted in between
            file = newest_data_file(self.folder)
            try:
                self._lmdb = open_lmdb(file, write=self.writable)
            except (lmdb.Error, OSError) as error:
                if error_code(error) != errno.ENOENT:
                    raise
            else:
                self._file = _identity(file)

    def _resize(self, *, grow: bool) -> None:
        """Double the memory map, or take over the size that another process has given it."""
        with self._lock.exclusive():
            self._lmdb.set_mapsize(2 * self._lmdb.info()["map_size"] if grow else 0)


def _visit_some(
    visit: Visit[Result], after: bytes, transaction: Transaction[memoryview]
) -> tuple[list[Result], bytes | None]:
    """Visit the next entries; return the results and the last key, None at the end."""
    cursor = transaction.cursor()
    if not cursor.set_range(after + b"\0"):
        return [], None
    results: list[Result] = []
    key = after
    for key_view, value in islice(cursor.iternext(), WALK_ENTRIES):
        key = bytes(key_view)
        if key != HEADER_KEY:
            results.append(visit(key, value))
    return results, key


def _identity(file: Path) -> tuple[Path, int] | None:
    """Path and inode; None if the file is gone. An inode is not given to another file while this one is open."""
    try:
        return file, os.stat(file).st_ino
    except FileNotFoundError:
        return None


_environments: WeakValueDictionary[Path, Environment] = WeakValueDictionary()
_environments_lock = Lock()


def environment(folder: Path, *, write: bool = False) -> Environment:
    """The environment of a folder, one per process."""
    with _environments_lock:
        path = folder.resolve()
        known = _usable(path)
        if known is None:
            known = _environments[path] = Environment(folder)
        if write:
            known.make_writable()
        return known


def _usable(path: Path) -> Environment | None:
    """The environment that is open for a path; None if there is none, or another store is there now."""
    known = _environments.get(path)
    try:
        if known:
            known.follow()
    except CascadaError:
        return None
    return known
