"""What LMDB complains of, as sentences."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lmdb

from cascada.errors import CascadaError

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
