"""The shape of GPD, about a hundred candidates a question: JSONL, a group a line or a pair a line.

A pair is `{"question", "sentence" or "text", "label"}`, with "question_id" and "id" if there are any.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cascada.data import check
from cascada.data.group import Group
from cascada.data.grouping import Row, grouped
from cascada.data.lines import Line, Source, records
from cascada.data.readers import jsonl


def read(path: Source) -> Iterator[Group]:
    _, first = next(_records(path))
    if "candidates" in first:
        return (jsonl.group(record, line) for line, record in _records(path))
    return grouped(lambda: (_row(record, line) for line, record in _records(path)))


def _records(path: Source) -> Iterator[tuple[Line, dict[str, Any]]]:
    return ((line, check.json_line(line)) for line in records(path, "one JSON object a line"))


def _row(record: dict[str, Any], line: Line) -> Row:
    question_id = check.identifier(record.get("question_id"), line)
    return Row(check.question(record.get("question"), line), jsonl.candidate(record, line), question_id)
