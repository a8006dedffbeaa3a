"""GPD's layout, about a hundred candidates per question: JSONL with one group per line, or one pair per line.

A pair is `{"question", "sentence" or "text", "label"}`, optionally with "question_id" and "id".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from cascada.data import check
from cascada.data.collect import Row, grouped
from cascada.data.group import Group
from cascada.data.lines import Line, Source, records
from cascada.data.readers import jsonl


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file; its first line decides which of the two forms it has."""
    stream = ((line, check.json_line(line)) for line in records(path, "one JSON object per line"))
    first = next(stream)
    everything = chain([first], stream)
    if "candidates" in first[1]:
        yield from (jsonl.group(record, line) for line, record in everything)
    else:
        yield from grouped(_row(record, line) for line, record in everything)


def _row(record: dict[str, Any], line: Line) -> Row:
    question_id = check.identifier(record.get("question_id"), line)
    return Row(check.question(record.get("question"), line), jsonl.candidate(record, line), question_id)
