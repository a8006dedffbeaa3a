"""Transactions on a store's data file, whatever happens to it meanwhile: it grows, or is compacted."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import lmdb

from cascada.core.errors import CascadaError
from cascada.store.folder import newest
from cascada.store.format import KEY, Header
from cascada.store.lmdb_file import Gate, code, is_full, opened, told

if TYPE_CHECKING:
    from lmdb import Transaction
from threading import Lock
from weakref import WeakValueDictionary

Result = TypeVar("Result")


Work = Callable[["Transaction[memoryview]"], Result]


class Environment:
    """Runs transactions on the newest data file of a folder, wherever compacting has put it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writable = False
        self._gate = Gate()
        self._file: tuple[Path, int] | None = None
        with told(folder):
            self._open()
        self.header = self._read_header()

    def run(self, work: Work[Result], *, write: bool = False) -> Result:
        """What `work` returns, in a transaction: all that it writes is kept, or nothing.

        It is called again if the map was too small for it. Parts of the transaction must not outlive it.
        """
        with told(self.folder):
            while True:
                self.follow()
                try:
                    with self._gate.together(), self._lmdb.begin(write=write, buffers=True) as transaction:
                        if not write or self._is_current():  # else compacted while this one waited to write
                            return work(transaction)
                except lmdb.MapResizedError:  # by another process
                    self._resize(grow=False)
                except lmdb.MapFullError:
                    self._resize(grow=True)
                except lmdb.Error as error:
                    if is_full(error):
                        self._reopen()  # LMDB may have given this environment up
                    raise

    def copy(self, file: Path) -> None:
        """What was last written, in order and without holes."""
        self._lmdb.copy(str(file), compact=True)

    def follow(self) -> None:
        """Go on with the newest data file, if it is of the same model."""
        if self._is_current():
            return
        self._reopen()
        if self._read_header() != self.header:
            with self._gate.alone():
                self._close()
            raise CascadaError(f"{self.folder} was made anew by another model while it was in use: open it again.")

    def make_writable(self) -> None:
        if not self.writable:
            self.writable = True
            try:
                with told(self.folder):
                    self._reopen()
            except CascadaError:
                self.writable = False
                raise

    def _read_header(self) -> Header:
        packed = self.run(lambda transaction: bytes(transaction.get(KEY, b"")))
        return Header.unpacked(packed, self.folder)

    def _is_current(self) -> bool:
        return self._file is not None and self._file == _identity(newest(self.folder))

    def _reopen(self) -> None:
        with self._gate.alone():
            self._close()
            self._open()

    def _close(self) -> None:
        self._lmdb.close()
        self._file = None

    def _open(self) -> None:
        while not self._is_current():  # again if it was compacted in between
            file = newest(self.folder)
            try:
                self._lmdb = opened(file, self.writable)
            except (lmdb.Error, OSError) as error:
                if code(error) != errno.ENOENT:
                    raise
            else:
                self._file = _identity(file)

    def _resize(self, *, grow: bool) -> None:
        """To twice the size, or to what another process has made of it."""
        with self._gate.alone():
            self._lmdb.set_mapsize(2 * self._lmdb.info()["map_size"] if grow else 0)


def _identity(file: Path) -> tuple[Path, int] | None:
    """None if it is gone. The number that a file has in its file system is not given again while it is open."""
    try:
        return file, os.stat(file).st_ino
    except FileNotFoundError:
        return None


_shared: WeakValueDictionary[Path, Environment] = WeakValueDictionary()


_sharing = Lock()


def environment(folder: Path, *, write: bool = False) -> Environment:
    """The one of this folder in this process."""
    with _sharing:
        path = folder.resolve()
        found = _usable(path)
        if found is None:
            found = _shared[path] = Environment(folder)
        if write:
            found.make_writable()
        return found


def _usable(path: Path) -> Environment | None:
    """None, too, if another store has come to stand there."""
    found = _shared.get(path)
    try:
        if found:
            found.follow()
    except CascadaError:
        return None
    return found
