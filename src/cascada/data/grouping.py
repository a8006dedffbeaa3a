"""From rows of (question, candidate) to groups."""

from __future__ import annotations

import marshal
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cascada.core.errors import DataError
from cascada.data.group import Candidate, Group

__all__ = ["Row", "grouped"]


def grouped(rows: Callable[[], Iterator[Row]]) -> Iterator[Group]:
    """One group per question, in the order the questions first appear.

    `rows` starts a new pass over the data. Rows of one question mostly stand together, and then one group is in
    memory at a time; where they do not (ASNQ and QNLI are released shuffled), they are brought together on disk.
    """
    if _stand_together(rows()):
        yield from _consecutive(rows())
    else:
        yield from gathered(rows())


def _consecutive(rows: Iterable[Row]) -> Iterator[Group]:
    for (question_id, question), same in groupby(rows, key):
        yield Group(question, tuple(row.candidate for row in same), question_id)


def _stand_together(rows: Iterable[Row]) -> bool:
    """Whether no question comes back after another one; in a shuffled file the first lines settle it."""
    done: set[Key] = set()
    for current, _ in groupby(rows, key):
        if current in done:
            return False
        done.add(current)
    return True


QUESTIONS_PER_FILE = 1000


ROWS_IN_MEMORY = 50_000


Key = tuple[str | None, str]


Plain = tuple[str | None, str, str, int | None, str | None, int | None]
"""A row as the files hold it: plain values are written and read many times faster than objects."""


class Row(NamedTuple):
    question: str
    candidate: Candidate
    question_id: str | None = None


def key(row: Row) -> Key:
    return row.question_id, row.question


def gathered(rows: Iterable[Row]) -> Iterator[Group]:
    """Sort rows into files of a thousand questions each, numbered as they first appear, then read file by file.

    Needs about as much temporary disk space as the data; in memory are the questions and one such file.
    """
    try:
        with TemporaryDirectory(prefix="cascada-") as folder:
            for file in _sorted_into_files(rows, Path(folder)):
                yield from _groups(file)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"The rows cannot be grouped by question in temporary files: {reason} (see TMPDIR).") from error


def _sorted_into_files(rows: Iterable[Row], folder: Path) -> list[Path]:
    positions: dict[Key, int] = {}
    waiting: defaultdict[int, list[Plain]] = defaultdict(list)
    for count, (question, one, question_id) in enumerate(rows, 1):
        position = positions.setdefault((question_id, question), len(positions))
        waiting[position // QUESTIONS_PER_FILE].append((question_id, question, one.text, one.label, one.id, one.grade))
        if count % ROWS_IN_MEMORY == 0:
            _append(waiting, folder)
    _append(waiting, folder)
    return [folder / str(number) for number in range(-(-len(positions) // QUESTIONS_PER_FILE))]


def _append(waiting: defaultdict[int, list[Plain]], folder: Path) -> None:
    for number, rows in waiting.items():
        with open(folder / str(number), "ab") as file:
            marshal.dump(rows, file)
    waiting.clear()


def _groups(file: Path) -> Iterator[Group]:
    candidates: defaultdict[Key, list[Candidate]] = defaultdict(list)
    for question_id, question, text, label, identifier, grade in _rows(file):
        candidates[question_id, question].append(Candidate(text, label, identifier, grade))
    for (question_id, question), found in candidates.items():
        yield Group(question, tuple(found), question_id)


def _rows(file: Path) -> Iterator[Plain]:
    with open(file, "rb") as stream:
        while stream.peek(1):
            yield from marshal.load(stream)
