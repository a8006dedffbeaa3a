"""Files by path or by URL: anything that fsspec can reach, `s3://`, `gs://`, `abfs://`, `file://` and more."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from cascada.core.errors import CascadaError, DataError, first_line
from cascada.core.files import atomic_write_bytes

BUFFER = 1 << 20
"""Bytes copied at a time."""


def file_system_of(url: str) -> tuple[Any, str]:
    """The file system of a URL or path, and the path in it."""
    try:
        system, path = url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise CascadaError(f"{url} cannot be reached: {first_line(error)}.") from error
    return system, str(path)


def is_local(url: str) -> bool:
    return isinstance(file_system_of(url)[0], LocalFileSystem)


def absolute(url: str) -> str:
    """The absolute path, since workers run in other folders; a URL without a slash at its end."""
    return file_system_of(url)[1] if is_local(url) else url.rstrip("/")


def exists(url: str) -> bool:
    system, path = file_system_of(url)
    return bool(system.exists(path))


def names_in(url: str) -> list[str]:
    """The names in a folder; none if it does not exist."""
    system, path = file_system_of(url)
    try:
        return [entry.rstrip("/").rpartition("/")[2] for entry in system.ls(path, detail=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def version_of(url: str) -> str:
    """A string that changes when the file changes."""
    system, path = file_system_of(url)
    try:
        return str(system.ukey(path))
    except FileNotFoundError:
        raise DataError(f"There is no file {url}.") from None


@contextmanager
def local_copy(url: str) -> Iterator[Path]:
    """Yield a local path of a file or folder: its own, or that of a copy, which is removed afterwards.

    Errors in the data name the URL, not the copy.
    """
    system, path = file_system_of(url)
    if isinstance(system, LocalFileSystem):
        yield Path(path)
        return
    with TemporaryDirectory(prefix="cascada-") as work:
        copy = Path(work, path.rstrip("/").rpartition("/")[2])
        try:
            system.get(path, str(copy), recursive=system.isdir(path))
        except FileNotFoundError:
            raise DataError(f"There is no {url}.") from None
        try:
            yield copy
        except DataError as error:
            raise DataError(str(error).replace(str(copy), url)) from error


@contextmanager
def destination(url: str) -> Iterator[Path]:
    """Yield a local path to write a file to, with `atomic_write`: the file is then at `url` completely, or not at all.

    A path is its own destination. What is to go to a URL is written to a temporary file, and uploaded if there was no
    error: object stores show an object once it is complete.
    """
    system, path = file_system_of(url)
    if isinstance(system, LocalFileSystem):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        yield Path(path)
        return
    with TemporaryDirectory(prefix="cascada-") as work:
        written = Path(work, path.rpartition("/")[2])
        yield written
        system.put_file(str(written), path)


def copy_file(file: Path, url: str) -> None:
    """Copy a local file to `url`, atomically."""
    with destination(url) as path, atomic_write_bytes(path) as copy, open(file, "rb") as content:
        shutil.copyfileobj(content, copy, BUFFER)


def concatenate(blocks: Iterable[str], out: str) -> None:
    """Write the contents of some files into one, in order, atomically."""
    with destination(out) as path, atomic_write_bytes(path) as whole:
        for block in blocks:
            with local_copy(block) as part, open(part, "rb") as content:
                shutil.copyfileobj(content, whole, BUFFER)


def remove(url: str) -> None:
    system, path = file_system_of(url)
    system.rm_file(path)


def files_of(urls: Iterable[str], find: Callable[[str], Iterable[str]], endings: Iterable[str]) -> list[str]:
    """The files that some paths and URLs stand for, each once.

    `find` finds the files of a path. A URL with a `*` stands for all that it matches, that of a folder for the files in
    it with one of the `endings`, and any other for itself.
    """
    files: dict[str, None] = {}
    for url in urls:
        expanded = map(absolute, find(file_system_of(url)[1])) if is_local(url) else _remote_files(url, tuple(endings))
        files.update(dict.fromkeys(expanded))
    return list(files)


def _remote_files(url: str, endings: tuple[str, ...]) -> list[str]:
    system, path = file_system_of(url)
    if "*" in path:
        paths = sorted(system.glob(path))
    elif system.isdir(path):
        paths = [file for file in sorted(system.find(path)) if file.lower().endswith(endings)]
    else:
        paths = [path] if system.exists(path) else []
    if not paths:
        raise DataError(f"There is nothing to read in {url}.")
    return [str(system.unstrip_protocol(file)) for file in paths]


def block_url(out: str, number: int, depends_on: Iterable[str], ending: str) -> str:
    """The URL of one block of the result `out`. Its name has a digest of all that the block depends on."""
    digest = blake2b("\n".join(depends_on).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{out}.blocks/{number:06d}-{digest}.{ending}"
