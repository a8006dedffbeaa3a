"""A data file, opened by LMDB."""

from __future__ import annotations

import errno
from pathlib import Path

import lmdb

from cascada.store.trouble import code

READERS = 1024
"""Transactions that may read at once, over all processes."""
ROOM = 1 << 26
"""Bytes of address space that a store may grow by before it has to be mapped again."""
UNWRITTEN = 64
"""Pages at the end of a file that LMDB may have reserved without writing them."""


def opened(file: Path, write: bool) -> lmdb.Environment:
    """Raises LMDB's errors."""
    room = file.stat().st_size + ROOM

    def attempt(lock: bool) -> lmdb.Environment:
        return lmdb.open(
            str(file), subdir=False, readonly=not write, max_readers=READERS, map_size=room, mode=0o644, lock=lock
        )

    try:
        found = attempt(lock=True)
    except lmdb.Error as error:
        if write or code(error) not in (errno.EACCES, errno.EPERM):
            raise
        found = attempt(lock=False)  # the lock file belongs to somebody else
    pages = found.info()["last_pgno"] + 1 - UNWRITTEN
    if file.stat().st_size < pages * found.stat()["psize"]:  # reading beyond the end of a mapped file ends the process
        found.close()
        raise lmdb.CorruptedError("its end is missing")
    if write:
        found.reader_check()  # forget readers that were killed: they would keep old pages from being used again
    return found
