"""CSV with a header: one column each for question, candidate and label, under any of their usual names.

`question_id` and `id` are optional; other columns are ignored.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from cascada.core.errors import DataError
from cascada.data import check
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, lines

COLUMNS = {
    "question": ("question", "query"),
    "candidate": ("sentence", "text", "candidate", "answer", "passage", "document", "context", "content", "response"),
    "label": ("label", "relevance", "relevant", "correct", "is_correct", "is_relevant", "target"),
    "question_id": ("question_id", "query_id", "qid"),
}
"""What a row holds → the names its column may have, in lower case."""

PREFERRED = frozenset(("sentence", "text", "candidate", "answer"))
"""Unambiguous names: the first one present holds the candidate, even beside a column such as `document`, its origin."""


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    return grouped(_rows(path))


def columns(path: Source) -> dict[str, str]:
    """What a row holds → the column in which it was found, as the file writes its name."""
    for line, fields in _table(path):
        return {
            role: field.strip() for field, role in zip(fields, _header(fields, line), strict=True) if role in COLUMNS
        }
    return {}


def _rows(path: Source) -> Iterator[Row]:
    table = _table(path)
    line, names = next(table, (None, []))
    if line is None:
        raise DataError(f"{path} is empty: expected a header with question, sentence and label")
    names = _header(names, line)
    for line, fields in table:
        if len(fields) != len(names):
            raise line.error(f"expected {len(names)} columns ({', '.join(names)}), found {len(fields)}")
        yield _row(dict(zip(names, fields, strict=True)), line)


def _table(path: Source) -> Iterator[tuple[Line, list[str]]]:
    """Rows with the line they begin on: quoted text may span several. Empty lines are allowed only at the end."""
    reader = csv.reader((line.text + "\n" for line in lines(path)), strict=True)
    start = 1
    blank: Line | None = None
    try:
        for fields in reader:
            line = Line(path, start, "")
            if fields and blank:
                raise blank.error("expected a row, found an empty line")
            if fields:
                yield line, fields
            else:
                blank = blank or line
            start = reader.line_num + 1
    except csv.Error as error:
        raise DataError.at(path, start, f"not valid CSV: {error}") from error


def _header(fields: list[str], line: Line) -> list[str]:
    """The columns by what they hold: `query` becomes `question`; columns without a meaning here get parentheses."""
    names = [field.strip().lower() for field in fields]
    held = {role: _named(role, names, line) for role in COLUMNS}
    missing = [role for role in ("question", "candidate", "label") if held[role] is None]
    if missing or len(set(names)) != len(names):
        others = ", ".join(name for role in ("question", "label") for name in COLUMNS[role][1:])
        wanted = f"question, label and one of {', '.join(COLUMNS['candidate'])} (also known: {others})"
        raise line.error(f"expected a header with {wanted}, each once, found {check.shorten(fields, 120)}")
    roles = {name: role for role, name in held.items() if name}
    return [roles.get(name, name if name == "id" else f"({name})") for name in names]


def _named(role: str, names: list[str], line: Line) -> str | None:
    """The column that holds a role; None if there is none."""
    present = [name for name in COLUMNS[role] if name in names]
    if len(present) > 1 and present[0] not in PREFERRED:
        raise line.error(f"the columns {' and '.join(present)} could both be the {role}: rename or remove one")
    return present[0] if present else None


def _row(record: dict[str, str], line: Line) -> Row:
    text = check.text_field(record, ("candidate",), line)
    label, relevance = check.graded_label(record["label"].strip(), line)
    candidate = Candidate(text, label, record.get("id") or None, relevance=relevance)
    return Row(check.question(record["question"], line), candidate, record.get("question_id") or None)
