"""Files and folders in, passages out: which files are read, and what happens to those that cannot be read."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from cascada.core.errors import DataError
from cascada.search.formats import KNOWN, READERS, read
from cascada.search.passage import Passage, passages

Source = str | PathLike[str]

Watch = Callable[[Sequence[Path]], Iterable[Path]]
"""Yields the files it is given, and may show a progress bar: `cascada.cli.progress.shown`."""

Report = Callable[[DataError], object]
"""Is called with the problem of each file that is skipped."""


def find_files(paths: Iterable[Source]) -> list[Path]:
    """The files named, and the readable types of files in the folders named, each once.

    Hidden files and folders are skipped unless named; so are links to folders, which might lead in circles.
    """
    roots = [Path(path) for path in paths]
    files = {os.path.abspath(file): file for root in roots for file in _files_under(root)}
    if not files:
        names = ", ".join(map(str, roots)) or "an empty list of paths"
        raise DataError(f"There is nothing to read in {names}: {KNOWN}.")
    return list(files.values())


def file_passages(path: Path) -> Iterator[Passage]:
    """Every passage of a file, in order."""
    empty = True
    for document in read(path):
        for passage in passages(document):
            empty = False
            yield passage
    if empty:
        raise DataError(f"{path} has no text to read.")


def read_passages(paths: Iterable[Source], *, report: Report | None = None, watch: Watch = iter) -> list[Passage]:
    """All passages of files and folders.

    `report` is called with the problem of each file that is skipped; the default is a Python warning. If no file can be
    read, that is an error.
    """
    return read_files(find_files(paths), report=report, watch=watch)


def read_files(files: Sequence[Path], *, report: Report | None = None, watch: Watch = iter) -> list[Passage]:
    """`read_passages` for files that `find_files` has found."""
    read_so_far: list[Passage] = []
    problems: list[DataError] = []
    for path in watch(files):
        try:
            read_so_far.extend(list(file_passages(path)))  # a file is read whole or not at all
        except DataError as problem:
            problems.append(problem)
    report_skipped(problems, report, all_skipped=not read_so_far)
    return read_so_far


def report_skipped(problems: Sequence[DataError], report: Report | None, *, all_skipped: bool) -> None:
    """Report the problems of skipped files, or raise them if nothing could be read."""
    if all_skipped and len(problems) == 1:
        raise problems[0]
    if all_skipped and problems:
        raise DataError(f"None of the {len(problems):,} files can be read; the first: {problems[0]}")
    for problem in problems:
        (report or _warn)(problem)


def _files_under(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        if not os.path.lexists(path):
            raise DataError(f"{path} cannot be read: No such file or directory.")
        yield path
        return
    unlisted: list[Path] = []
    for folder, subfolders, names in os.walk(path, onerror=lambda error: unlisted.append(Path(error.filename))):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names) if _is_readable_type(name))
    yield from unlisted  # `formats.read` raises their error


def _is_readable_type(name: str) -> bool:
    return not name.startswith(".") and os.path.splitext(name)[1].lower() in READERS


def _warn(problem: DataError) -> None:
    warnings.warn(str(problem), stacklevel=2)
