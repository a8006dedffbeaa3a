"""Collect rows of (question, candidate) into groups, in one pass over the data.

A question may come back after others: ASNQ and QNLI are released shuffled. So a group is complete only when all rows
were seen. Up to `ROWS_IN_MEMORY` rows wait for that in memory; more rows wait in temporary files.
"""

from __future__ import annotations

import marshal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from cascada.core.errors import DataError
from cascada.data.group import Candidate, Group

ROWS_IN_MEMORY = 50_000


QUESTIONS_PER_FILE = 1000


Key = tuple[str | None, str]
"""Id and text of a question: rows with the same key belong to the same group."""


StoredRow = tuple[str | None, str, str, int | None, str | None, int | None, int | None]
"""A row in a temporary file: plain values are written and read many times faster than objects."""


class Row(NamedTuple):
    question: str
    candidate: Candidate
    question_id: str | None = None


def grouped(rows: Iterable[Row]) -> Iterator[Group]:
    """One group per question, in the order in which the questions first appear.

    Rows that do not fit in memory need about as much temporary disk space as the data. Memory then holds the
    questions, and the rows of a thousand of them.
    """
    stream = iter(rows)
    first = list(islice(stream, ROWS_IN_MEMORY))
    more = next(stream, None)
    if more is None:
        yield from _groups(first)
        return
    try:
        with TemporaryDirectory(prefix="cascada-") as folder:
            for file in _distribute(chain(_emptying(first), [more], stream), Path(folder)):
                yield from _groups(_stored_rows(file))
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"The rows cannot be grouped by question in temporary files: {reason} (see TMPDIR).") from error


def _groups(rows: Iterable[Row]) -> Iterator[Group]:
    candidates: defaultdict[Key, list[Candidate]] = defaultdict(list)
    for question, candidate, question_id in rows:
        candidates[question_id, question].append(candidate)
    for (question_id, question), members in candidates.items():
        yield Group(question, tuple(members), question_id)


def _emptying(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows and release them, so that they are not kept as long as the rest is read."""
    rows.reverse()
    while rows:
        yield rows.pop()


def _distribute(rows: Iterable[Row], folder: Path) -> list[Path]:
    """Write the rows into files of a thousand questions each, which are numbered as they first appear."""
    numbers: dict[Key, int] = {}
    waiting: defaultdict[int, list[StoredRow]] = defaultdict(list)
    for count, (question, candidate, question_id) in enumerate(rows, 1):
        number = numbers.setdefault((question_id, question), len(numbers))
        labels = candidate.label, candidate.id, candidate.grade, candidate.relevance
        waiting[number // QUESTIONS_PER_FILE].append((question_id, question, candidate.text, *labels))
        if count % ROWS_IN_MEMORY == 0:
            _append(waiting, folder)
    _append(waiting, folder)
    return [folder / str(number) for number in range(-(-len(numbers) // QUESTIONS_PER_FILE))]


def _append(waiting: defaultdict[int, list[StoredRow]], folder: Path) -> None:
    for number, rows in waiting.items():
        with open(folder / str(number), "ab") as file:
            marshal.dump(rows, file)
    waiting.clear()


def _stored_rows(file: Path) -> Iterator[Row]:
    with open(file, "rb") as stream:
        while stream.peek(1):
            for question_id, question, *candidate in marshal.load(stream):
                yield Row(question, Candidate(*candidate), question_id)
