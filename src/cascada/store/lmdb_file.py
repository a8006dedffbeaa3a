"""What LMDB complains of, as sentences."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition

import lmdb

from cascada.core.errors import CascadaError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""No room on the disk, in the user's share of it, or in a file; LMDB says EIO where only a part of a page had room."""


DAMAGED = (lmdb.CorruptedError, lmdb.InvalidError, lmdb.PageNotFoundError, lmdb.VersionMismatchError)


@contextmanager
def told(folder: Path) -> Iterator[None]:
    """LMDB's errors, and the system's, as one sentence about the store in `folder`."""
    try:
        yield
    except (lmdb.Error, OSError) as error:
        raise CascadaError(_sentence(error, folder)) from error


def is_full(error: lmdb.Error | OSError) -> bool:
    return code(error) in FULL


def _sentence(error: lmdb.Error | OSError, folder: Path) -> str:
    if is_full(error):
        reason = os.strerror(code(error) or 0)
        return f"There is no room left for {folder} ({reason}); what was finished is in it: make room and go on."
    if isinstance(error, DAMAGED):
        return f"{folder} is damaged ({error}): make it anew with `cascada encode`."
    if isinstance(error, lmdb.ReadersFullError):
        return f"Too many processes read {folder} at once; try again when some have ended."
    return f"{folder} cannot be used: {getattr(error, 'strerror', None) or error}."


def code(error: lmdb.Error | OSError) -> int | None:
    """The system's, such as `errno.ENOENT`, or LMDB's own."""
    return error.errno if isinstance(error, OSError) else getattr(error, "code", None)


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


class Gate:
    """Whoever wants to be alone waits for those inside, and nobody enters meanwhile. A thread enters once at a time."""

    def __init__(self) -> None:
        self._turn = Condition()
        self._inside = 0
        self._alone = 0
        """How many are alone or want to be."""

    @contextmanager
    def together(self) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._turn:
                self._inside -= 1
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._turn:
            self._alone += 1
            try:
                self._turn.wait_for(lambda: not self._inside)
                yield  # with the condition held: the next one who wants to be alone waits for it
            finally:
                self._alone -= 1
                self._turn.notify_all()
