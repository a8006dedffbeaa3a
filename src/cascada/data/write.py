"""Write groups in our own JSONL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source
from cascada.text.context import InContext


def write_jsonl(groups: Iterable[Group], path: Source) -> int:
    """Write one group per line, streaming, and return their number. The file appears when it is complete."""
    count = 0
    with atomic_write(path) as file:
        for group in groups:
            file.write(json.dumps(_record(group), ensure_ascii=False) + "\n")
            count += 1
        if not count:
            raise DataError(f"{path} was not written: there are no questions to write.")
    return count


def _record(group: Group) -> dict[str, Any]:
    record = {
        "id": group.id,
        "question": group.question,
        "candidates": [_candidate(candidate) for candidate in group.candidates],
    }
    return record if group.id is not None else {key: record[key] for key in ("question", "candidates")}


def _candidate(candidate: Candidate) -> dict[str, Any]:
    # By hand, because `asdict` copies deeply: lists of whole articles have millions of candidates.
    text = candidate.text
    record: dict[str, Any] = {"text": text, "label": candidate.label, "id": candidate.id}
    if isinstance(text, InContext) and text.context:
        record |= {"text": text.text, "context": text.context}
    record |= {"grade": candidate.grade, "relevance": candidate.relevance, "score": candidate.score}
    return {key: value for key, value in record.items() if value is not None}
