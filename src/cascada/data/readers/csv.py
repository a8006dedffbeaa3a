"""CSV with a header: question, sentence (or text, candidate, answer) and label; optionally question_id and id."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from cascada.core.errors import DataError
from cascada.data import check
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, lines

TEXT = ("sentence", "text", "candidate", "answer")


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    return grouped(_rows(path))


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
    names = [field.strip().lower() for field in fields]
    text = [name for name in TEXT if name in names]
    if "question" not in names or "label" not in names or not text or len(set(names)) != len(names):
        wanted = f"question, label and one of {', '.join(TEXT)}"
        raise line.error(f"expected a header with {wanted}, each once, found {check.shorten(fields)}")
    return names


def _row(record: dict[str, str], line: Line) -> Row:
    text = check.text_field(record, TEXT, line)
    candidate = Candidate(text, check.label(record["label"].strip(), line), record.get("id") or None)
    return Row(check.question(record["question"], line), candidate, record.get("question_id") or None)
