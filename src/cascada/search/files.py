"""Which files are meant by a list of files and folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from cascada.errors import DataError
from cascada.search.formats import KNOWN, READERS

Source = str | PathLike[str]
Watch = Callable[[Sequence[Path]], Iterable[Path]]
"""Hands on the files it is given, and may show how far that is: `cascada.cli.progress.shown`."""


def find_files(paths: Iterable[Source]) -> list[Path]:
    """The files named, and those in the folders named that can be read, each once.

    Hidden files and folders are passed over, unless named; so are links to folders, which might lead in circles.
    """
    sources = [Path(path) for path in paths]
    found = {os.path.abspath(file): file for path in sources for file in _files(path)}
    if not found:
        names = ", ".join(map(str, sources)) or "an empty list of paths"
        raise DataError(f"There is nothing to read in {names}: {KNOWN}.")
    return list(found.values())


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        if not os.path.lexists(path):
            raise DataError(f"{path} cannot be read: No such file or directory.")
        yield path
        return
    closed: list[Path] = []
    for folder, folders, names in os.walk(path, onerror=lambda error: closed.append(Path(error.filename))):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names) if _wanted(name))
    yield from closed  # whoever reads them says so


def _wanted(name: str) -> bool:
    return not name.startswith(".") and os.path.splitext(name)[1].lower() in READERS
