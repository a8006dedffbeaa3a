"""JSONL: one document per line, `{"text", "id"?}`; other keys are ignored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cascada.data import check
from cascada.data.lines import records
from cascada.search.passage import Document


def read(path: Path) -> Iterator[Document]:
    """Documents are named `FILE#id`, or `FILE:line` without an id. Documents without text are skipped."""
    for line in records(path, 'one JSON object per line, with a "text"'):
        record = check.json_line(line)
        text = check.text_field(record, ("text",), line)
        name = check.identifier(record.get("id"), line)
        if text.strip():
            yield Document(f"{path}:{line.number}" if name is None else f"{path}#{name}", text)
