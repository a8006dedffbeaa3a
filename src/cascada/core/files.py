"""Atomic writes, and the cache folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from cascada.core.errors import DataError

NO_SPACE = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
"""The disk, the file or the user's quota has no room left. Windows has no EDQUOT."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a UTF-8 text file that replaces `path` once it is completely written; a path in `.gz` is compressed."""
    with _replacing(Path(path)) as (temporary, target), _opened(temporary, compressed=target.suffix == ".gz") as file:
        yield file


@contextmanager
def atomic_write_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces `path` once it is completely written."""
    with _replacing(Path(path)) as (temporary, _), open(temporary, "wb") as file:
        yield file


def cache_folder() -> Path:
    """The folder named by CASCADA_CACHE, otherwise `cascada` in the user's cache folder. It may not exist yet."""
    folder = os.environ.get("CASCADA_CACHE")
    if folder:
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cascada"


def reason_of(error: OSError) -> str:
    """Why the system refused to write, as the end of a sentence, and what to do if there was no room."""
    advice = " Free some space, or write to another disk." if error.errno in NO_SPACE else ""
    return f"{error.strerror or error}.{advice}"


@contextmanager
def _replacing(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield a temporary path next to the target; rename it to the target on success, remove it on failure.

    The target of a symbolic link is replaced, not the link.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise DataError(f"{path} cannot be written: it is not a file.")
    unique = f"{os.getpid()}-{os.urandom(4).hex()}"  # also among machines that share the folder
    temporary = target.with_name(f".{target.name}.{unique}.part")
    try:
        yield temporary, target
        os.replace(temporary, target)
    except UnicodeEncodeError as error:
        raise DataError(f"{path} cannot be written: {error.object!r} is not text ({error.reason}).") from error
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason_of(error)}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _opened(path: Path, *, compressed: bool) -> IO[str]:
    if compressed:
        import gzip  # late: it takes time, and few files are compressed

        return cast(IO[str], gzip.open(path, "wt", encoding="utf-8", newline="\n"))
    return open(path, "w", encoding="utf-8", newline="\n")
