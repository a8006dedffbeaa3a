"""From rows of (question, candidate) to groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from cascada.data.gather import Key, Row, gathered, key
from cascada.data.group import Group

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
