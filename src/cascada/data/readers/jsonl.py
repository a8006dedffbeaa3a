"""Our own format, one group per line: `{"id"?, "question", "candidates": [{"text", "label"?, "id"?, …}]}`.

A candidate may also have a "context" (a title or heading, the sentence before), which rankers read before its text; a
"relevance", which decides its label if it has none; ASNQ's "grade"; and a "score" from a teacher model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cascada.data import check
from cascada.data.check import Place
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source, records
from cascada.text.context import InContext


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
    if record.get("context") is not None:
        text = InContext(text, check.text_field(record, ("context",), where))
    label, relevance = _label(record, where)
    grade = check.whole_number(record.get("grade"), "grade", where)
    score = check.number(record.get("score"), "score", where)
    return Candidate(text, label, check.identifier(record.get("id"), where), grade, relevance, score)


def _label(record: dict[str, Any], where: Place) -> tuple[int | None, int | None]:
    """Label and relevance. Either may be missing, and the label may itself be a relevance from 0 to 3."""
    relevance = check.whole_number(record.get("relevance"), "relevance", where)
    if record.get("label") is None:
        return (None if relevance is None else int(relevance > 0)), relevance
    if relevance is not None:
        return check.label(record["label"], where), relevance
    return check.graded_label(record["label"], where)
