"""Our own format, one group a line: `{"id"?, "question", "candidates": [{"text", "label"?, "id"?, "grade"?}]}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cascada.data import check
from cascada.data.check import Where
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source, records


def read(path: Source) -> Iterator[Group]:
    for line in records(path, "one JSON object a line, with a question and its candidates"):
        yield group(check.json_line(line), line)


def group(record: dict[str, Any], where: Where) -> Group:
    """Keys that are not ours are allowed and not kept."""
    question = check.question(record.get("question"), where)
    found = check.items(record.get("candidates"), "candidates", where)
    return Group(question, tuple(candidate(one, where) for one in found), check.identifier(record.get("id"), where))


def candidate(value: object, where: Where) -> Candidate:
    """TREC-QA's files say "sentence" where ours say "text"; both are understood."""
    record = check.mapping(value, "a candidate", where)
    text = check.one_of(record, ("text", "sentence"), where)
    label = record.get("label")
    return Candidate(
        text,
        None if label is None else check.label(label, where),
        check.identifier(record.get("id"), where),
        _grade(record.get("grade"), where),
    )


def _grade(value: object, where: Where) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise where.error(f"expected a whole number as grade, found {check.shown(value)}")
