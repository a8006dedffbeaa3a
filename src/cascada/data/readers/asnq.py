"""ASNQ: lines of question, sentence and a label from 1 to 4, of which only 4 answers the question.

The released files are shuffled: the lines of a question are not adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data import check
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, records

COLUMNS = "question, sentence, label from 1 to 4"
_GRADES = {"1": 1, "2": 2, "3": 3, "4": 4}


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    return grouped(rows(path))


def rows(path: Source) -> Iterator[Row]:
    """Stream the pairs in the order of the file."""
    return map(_row, records(path, f"lines of {COLUMNS}"))


def _row(line: Line) -> Row:
    question, sentence, label = check.columns(line, COLUMNS)
    grade = _GRADES.get(label)
    if grade is None:
        raise line.error(f"expected a label from 1 to 4, found {check.shorten(label)}")
    return Row(check.question(question, line), Candidate(sentence, int(grade == 4), grade=grade))
