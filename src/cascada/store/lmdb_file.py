"""One LMDB file: how it is opened, and what its errors mean to a user."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lmdb

from cascada.core.errors import CascadaError
from cascada.core.files import NO_SPACE

MAX_READERS = 1024
"""Read transactions at the same time, over all processes."""

SPARE_BYTES = 1 << 26
"""Address space beyond the file's end: a store can grow by this much before it must be mapped again."""

RESERVED_PAGES = 64
"""Pages at the end of a file that LMDB may have allocated without writing them."""

DISK_FULL = (*NO_SPACE, errno.EIO)
"""LMDB reports EIO if only part of a page could be written."""

DAMAGED = (lmdb.CorruptedError, lmdb.InvalidError, lmdb.PageNotFoundError, lmdb.VersionMismatchError)


def open_lmdb(file: Path, *, write: bool, map_size: int | None = None, databases: int = 0) -> lmdb.Environment:
    """Open a data file; LMDB's own errors are raised. `databases` is the number of named databases in it.

    The memory map is as large as the file and `SPARE_BYTES`, unless `map_size` is given.
    """
    map_size = map_size or file.stat().st_size + SPARE_BYTES

    def attempt(lock: bool) -> lmdb.Environment:
        return lmdb.open(
            str(file),
            subdir=False,
            readonly=not write,
            max_readers=MAX_READERS,
            map_size=map_size,
            max_dbs=databases,
            mode=0o644,
            lock=lock,
        )

    try:
        database = attempt(lock=True)
    except lmdb.Error as error:
        if write or error_code(error) not in (errno.EACCES, errno.EPERM):
            raise
        database = attempt(lock=False)  # this user may read the store, but not write its lock file
    pages = database.info()["last_pgno"] + 1 - RESERVED_PAGES
    if file.stat().st_size < pages * database.stat()["psize"]:  # reading a mapped file beyond its end ends the process
        database.close()
        raise lmdb.CorruptedError("its end is missing")
    if write:
        database.reader_check()  # clear readers that were killed: they would keep old pages from being reused
    return database


@contextmanager
def lmdb_errors_as_sentences(folder: Path) -> Iterator[None]:
    """Raise errors of LMDB and of the system as a CascadaError about the store in `folder`."""
    try:
        yield
    except (lmdb.Error, OSError) as error:
        raise CascadaError(_sentence(error, folder)) from error


def is_disk_full(error: lmdb.Error | OSError) -> bool:
    return error_code(error) in DISK_FULL


def error_code(error: lmdb.Error | OSError) -> int | None:
    """The system's error number, such as `errno.ENOENT`, or LMDB's own."""
    return error.errno if isinstance(error, OSError) else getattr(error, "code", None)


def _sentence(error: lmdb.Error | OSError, folder: Path) -> str:
    if is_disk_full(error):
        reason = os.strerror(error_code(error) or 0)
        return f"There is no room left for {folder} ({reason}). Finished texts are kept: free some space and resume."
    if isinstance(error, DAMAGED):
        return f"{folder} is damaged ({error}): build it again with `cascada encode`."
    if isinstance(error, lmdb.ReadersFullError):
        return f"Too many processes are reading {folder}: try again when some have ended."
    return f"{folder} cannot be used: {getattr(error, 'strerror', None) or error}."
