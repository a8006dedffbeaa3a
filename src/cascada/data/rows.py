"""From rows of (question, candidate) to groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from cascada.data.group import Candidate, Group


class Row(NamedTuple):
    question: str
    candidate: Candidate
    question_id: str | None = None


def grouped(rows: Iterable[Row]) -> Iterator[Group]:
    """Rows of the same question that follow each other form a group; only one group is in memory at a time.

    A question that comes back later starts a new group: joining them would mean holding the whole file.
    """
    for (question_id, question), same in groupby(rows, key=lambda row: (row.question_id, row.question)):
        yield Group(question, tuple(row.candidate for row in same), question_id)
