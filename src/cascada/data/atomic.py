"""Files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from cascada.data.lines import Source
from cascada.errors import DataError


@contextmanager
def written(path: Source) -> Iterator[IO[str]]:
    """A text file under a temporary name beside `path`, renamed to it once everything is written (`.gz`: packed)."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise DataError(f"{path} cannot be written: it is not a file.")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _opened(temporary, packed=target.suffix == ".gz") as file:
            yield file
        os.replace(temporary, target)
    except UnicodeEncodeError as error:
        raise DataError(f"{path} cannot be written: {error.object!r} is not text ({error.reason}).") from error
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _opened(path: Path, packed: bool) -> IO[str]:
    if packed:
        return cast(IO[str], gzip.open(path, "wt", encoding="utf-8", newline="\n"))
    return open(path, "w", encoding="utf-8", newline="\n")
