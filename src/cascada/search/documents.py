"""Which files are meant by a list of files and folders."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from cascada.core.errors import CascadaError, DataError
from cascada.search.candidates import candidates
from cascada.search.formats import KNOWN, READERS, read
from cascada.search.passages import Passage, passages

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


CANDIDATES = "candidates"


UNITS = ("sentences", "paragraphs", CANDIDATES)


def check_units(units: str, *, data_set: bool) -> None:
    """`data_set`: whether a data set's folder or split was named, which only candidates have."""
    if units not in UNITS:
        raise CascadaError(f"--units takes sentences, paragraphs or candidates, not {units!r}.")
    if units != CANDIDATES and data_set:
        raise CascadaError("--root and --split belong to a data set: add --units candidates.")


def texts_in(passages: Iterable[Passage], units: str, language: str = "en") -> list[str]:
    """Sentences or paragraphs, each once."""
    if units == "paragraphs":
        return list(dict.fromkeys(passage.text for passage in passages))
    return [one.text for one in candidates("", list(passages), language=language)]
