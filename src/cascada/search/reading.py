"""From files to passages; what cannot be read is told of, and the rest goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from cascada.errors import DataError
from cascada.search.files import Source, Watch, find_files
from cascada.search.formats import read
from cascada.search.paragraphs import passages
from cascada.search.passage import Passage

Report = Callable[[DataError], object]
"""Hears of each file that is left out."""


def warn(problem: DataError) -> None:
    """A Python warning, where nobody else is told."""
    warnings.warn(str(problem), stacklevel=2)


def file_passages(path: Path) -> Iterator[Passage]:
    """Every passage of a file, in order."""
    empty = True
    for document in read(path):
        for passage in passages(document):
            empty = False
            yield passage
    if empty:
        raise DataError(f"{path} has no text to read.")


def read_passages(paths: Iterable[Source], *, report: Report = warn, watch: Watch = iter) -> list[Passage]:
    """All passages of files and folders. `report` hears of files that are left out; none at all is an error."""
    found: list[Passage] = []
    problems: list[DataError] = []
    for path in watch(find_files(paths)):
        try:
            found.extend(list(file_passages(path)))  # a file is read whole or not at all
        except DataError as problem:
            problems.append(problem)
    tell(problems, report, nothing=not found)
    return found


def tell(problems: Sequence[DataError], report: Report, *, nothing: bool) -> None:
    """Report what was left out, or raise it if that was everything."""
    if nothing and len(problems) == 1:
        raise problems[0]
    if nothing and problems:
        raise DataError(f"None of the {len(problems):,} files can be read; the first: {problems[0]}")
    for problem in problems:
        report(problem)
