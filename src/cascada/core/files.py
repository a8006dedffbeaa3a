"""Atomic writes, and the folder for caches."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from cascada.core.errors import DataError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a text file for writing that replaces `path` only when everything is written (`.gz`: compressed)."""
    with _replacing(Path(path)) as (temporary, target), _opened(temporary, compressed=target.suffix == ".gz") as file:
        yield file


@contextmanager
def atomic_write_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that replaces `path` only when everything is written."""
    with _replacing(Path(path)) as (temporary, _), open(temporary, "wb") as file:
        yield file


def cache_folder() -> Path:
    """The folder CASCADA_CACHE, or the user's usual cache folder. It may not exist yet."""
    home = os.environ.get("CASCADA_CACHE")
    if home:
        return Path(home)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cascada"


@contextmanager
def _replacing(path: Path) -> Iterator[tuple[Path, Path]]:
    """A temporary path beside the target; renamed to the target if the body succeeds, removed if it fails."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise DataError(f"{path} cannot be written: it is not a file.")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary, target
        os.replace(temporary, target)
    except UnicodeEncodeError as error:
        raise DataError(f"{path} cannot be written: {error.object!r} is not text ({error.reason}).") from error
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _opened(path: Path, *, compressed: bool) -> IO[str]:
    if compressed:
        return cast(IO[str], gzip.open(path, "wt", encoding="utf-8", newline="\n"))
    return open(path, "w", encoding="utf-8", newline="\n")
