"""JSONL: a document a line, `{"text", "id"?}`; other keys are not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cascada.data import check
from cascada.data.lines import records
from cascada.search.passages import Document


def read(path: Path) -> Iterator[Document]:
    """Documents are named `FILE#id`, or `FILE:line` without an id; one whose text is empty is passed over."""
    for line in records(path, 'one JSON object a line, with a "text"'):
        record = check.json_line(line)
        text = check.one_of(record, ("text",), line)
        name = check.identifier(record.get("id"), line)
        if text.strip():
            yield Document(f"{path}:{line.number}" if name is None else f"{path}#{name}", text)
