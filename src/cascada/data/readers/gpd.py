"""The shape of GPD, about a hundred candidates a question: JSONL, a group a line or a pair a line.

A pair a line is `{"question", "sentence" or "text", "label"}`; lines of one question follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data import check
from cascada.data.group import Group
from cascada.data.lines import Line, Source, records
from cascada.data.readers import jsonl
from cascada.data.rows import Row, grouped


def read(path: Source) -> Iterator[Group]:
    stream = ((line, check.json_line(line)) for line in records(path, "one JSON object a line"))
    first = next(stream)
    if "candidates" in first[1]:
        yield jsonl.group(first[1], first[0])
        yield from (jsonl.group(record, line) for line, record in stream)
    else:
        yield from grouped(_row(record, line) for line, record in _again(first, stream))


def _row(record: dict[str, object], line: Line) -> Row:
    question_id = check.identifier(record.get("question_id"), line)
    return Row(check.question(record.get("question"), line), jsonl.candidate(record, line), question_id)


def _again(
    first: tuple[Line, dict[str, object]], rest: Iterator[tuple[Line, dict[str, object]]]
) -> Iterator[tuple[Line, dict[str, object]]]:
    yield first
    yield from rest
