"""Our own format, one group per line: `{"id"?, "question", "candidates": [{"text", "label"?, "id"?, "grade"?}]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cascada.data import check
from cascada.data.check import Place
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source, records


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    for line in records(path, "one JSON object per line, with a question and its candidates"):
        yield group(check.json_line(line), line)


def group(record: dict[str, Any], where: Place) -> Group:
    """Parse a group. Keys other than ours are ignored."""
    question = check.question(record.get("question"), where)
    values = check.list_of(record.get("candidates"), "candidates", where)
    candidates = tuple(candidate(value, where) for value in values)
    return Group(question, candidates, check.identifier(record.get("id"), where))


def candidate(value: object, where: Place) -> Candidate:
    """Parse a candidate. Its text is under "text", or under "sentence" as in TREC-QA's files."""
    record = check.json_object(value, "a candidate", where)
    text = check.text_field(record, ("text", "sentence"), where)
    label = record.get("label")
    return Candidate(
        text,
        None if label is None else check.label(label, where),
        check.identifier(record.get("id"), where),
        _grade(record.get("grade"), where),
    )


def _grade(value: object, where: Place) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise where.error(f"expected a whole number as grade, found {check.shorten(value)}")
