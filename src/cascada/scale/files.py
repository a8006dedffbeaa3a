"""Files by path or by URL: whatever fsspec can reach, `s3://`, `gs://`, `abfs://`, `file://` and more."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from cascada.core.errors import CascadaError, DataError, first_line


def located(url: str) -> tuple[Any, str]:
    """The file system that a URL or path speaks of, and the path in it."""
    try:
        files, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise CascadaError(f"{url} cannot be reached: {first_line(error)}.") from error
    return files, str(path)


def is_local(url: str) -> bool:
    return isinstance(located(url)[0], LocalFileSystem)


def absolute(url: str) -> str:
    """A path from the root, as workers have other folders of their own; a URL as it is."""
    return located(url)[1] if is_local(url) else url.rstrip("/")


def exists(url: str) -> bool:
    files, path = located(url)
    return bool(files.exists(path))


def names_in(url: str) -> list[str]:
    """The names in a folder; none if it is not there."""
    files, path = located(url)
    try:
        return [found.rstrip("/").rpartition("/")[2] for found in files.ls(path, detail=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def state_of(url: str) -> str:
    """Something that changes when a file does."""
    files, path = located(url)
    try:
        return str(files.ukey(path))
    except FileNotFoundError:
        raise DataError(f"There is no file {url}.") from None


@contextmanager
def here(url: str) -> Iterator[Path]:
    """A file or folder as a path of this machine: itself, or a copy for as long as it is needed."""
    files, path = located(url)
    if isinstance(files, LocalFileSystem):
        yield Path(path)
        return
    with TemporaryDirectory(prefix="cascada-") as work:
        copy = Path(work, path.rstrip("/").rpartition("/")[2])
        try:
            files.get(path, str(copy), recursive=files.isdir(path))
        except FileNotFoundError:
            raise DataError(f"There is no {url}.") from None
        try:
            yield copy
        except DataError as error:
            raise DataError(str(error).replace(str(copy), url)) from error


@contextmanager
def appearing(url: str) -> Iterator[Path]:
    """A path to write to; what was written stands at `url` afterwards, whole, and not at all if an error is raised."""
    files, path = located(url)
    if not isinstance(files, LocalFileSystem):
        with TemporaryDirectory(prefix="cascada-") as work:
            made = Path(work, path.rpartition("/")[2])
            yield made
            files.put_file(str(made), path)  # an object store shows an object when it is whole
        return
    target = Path(path)
    made = target.with_name(f".{uuid4().hex}.part.{target.name}")  # a retried task may overlap with the one before it
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield made
        os.replace(made, target)
    finally:
        made.unlink(missing_ok=True)


def place(file: Path, url: str) -> None:
    """A copy of a file, at `url` in one moment."""
    with appearing(url) as target:
        shutil.copyfile(file, target)


def remove(url: str) -> None:
    files, path = located(url)
    files.rm_file(path)


def files_of(urls: Iterable[str], find: Callable[[str], Iterable[str]], endings: Iterable[str]) -> list[str]:
    """Every file that is meant, each once.

    A path means what `find` makes of it. A URL with a `*` means what it matches; one of a folder, all files in it that
    end so; any other, itself.
    """
    found: dict[str, None] = {}
    for url in urls:
        own = map(absolute, find(located(url)[1])) if is_local(url) else _remote(url, tuple(endings))
        found.update(dict.fromkeys(own))
    return list(found)


def _remote(url: str, endings: tuple[str, ...]) -> list[str]:
    files, path = located(url)
    if "*" in path:
        paths = sorted(files.glob(path))
    elif files.isdir(path):
        paths = [one for one in sorted(files.find(path)) if one.lower().endswith(endings)]
    else:
        paths = [path] if files.exists(path) else []
    if not paths:
        raise DataError(f"There is nothing to read in {url}.")
    return [str(files.unstrip_protocol(one)) for one in paths]


def block_url(out: str, number: int, marks: Iterable[str], ending: str) -> str:
    """Where the part with this number of the result `out` is, given digests of all that it depends on."""
    mark = blake2b("\n".join(marks).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{out}.blocks/{number:06d}-{mark}.{ending}"


def join(blocks: Iterable[str], out: str) -> None:
    """The parts one after another, as one file that appears whole."""
    with appearing(out) as made, open(made, "wb") as joined:
        for block in blocks:
            with here(block) as path, open(path, "rb") as part:
                shutil.copyfileobj(part, joined)
