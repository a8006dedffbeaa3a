"""Data sets of the Hugging Face hub, or a folder that its `datasets` library can load. Columns are found by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from cascada.core.errors import DataError, first_line, require
from cascada.data import check
from cascada.data.check import Entry
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group

QUESTION = ("question", "query")
TEXT = ("sentence", "answer", "text", "candidate")
QUESTION_ID = ("question_id", "qid")

_POSITIVE = {"1", "pos", "positive", "yes", "true", "entailment", "relevant"}
_NEGATIVE = {"0", "neg", "negative", "no", "false", "not_entailment", "irrelevant"}


def read(name: str, split: str | None) -> Iterator[Group]:
    """Stream the groups of a split. `name` is a hub id, `ID@CONFIGURATION` if it has several, or a local folder."""
    data = _loaded(name, split)
    return grouped(_rows(data, name, split))


def _rows(data: Any, name: str, split: str | None) -> Iterator[Row]:
    features = data.features
    columns = list(features)
    top = Entry(f"hf:{name}", f"split {split}")
    question, text, label = (_column(columns, names, top) for names in (QUESTION, TEXT, ("label",)))
    question_id = next((column for column in QUESTION_ID if column in columns), None)
    names = getattr(features.get(label), "names", None)
    for number, record in enumerate(data, 1):
        where = Entry(f"hf:{name}", f"split {split}, row {number}")
        candidate = Candidate(check.text_field(record, (text,), where), _label(record[label], names, where))
        identifier = check.identifier(record[question_id], where) if question_id else None
        yield Row(check.question(record[question], where), candidate, identifier)


def _loaded(name: str, split: str | None) -> Any:
    """Load a split, which the library keeps on disk and maps into memory."""
    datasets = require("datasets", "hub", f"reading hf:{name}")
    path, _, configuration = name.partition("@")
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    try:
        splits: Mapping[str, Any] = datasets.load_dataset(path, configuration or None)
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise DataError(f"hf:{name} cannot be loaded: {first_line(error)}") from error
    if split is None or split not in splits:
        problem = "needs a split (--split)" if split is None else f"has no split {split!r}"
        raise DataError(f"hf:{name} {problem}; it has {', '.join(splits)}.")
    return splits[split]


def _column(columns: list[str], names: tuple[str, ...], where: Entry) -> str:
    for name in names:
        if name in columns:
            return name
    raise where.error(f"expected a column {' or '.join(names)}, found {', '.join(columns)}")


def _label(value: Any, names: list[str] | None, where: Entry) -> int | None:
    """0 or 1. If the data set names its classes, a number stands for a name: QNLI's 0 means entailment."""
    if value is None or value == -1:  # the hub's value for a label that is withheld
        return None
    name = str(names[value] if names else value).lower()
    if name in _POSITIVE or name in _NEGATIVE:
        return int(name in _POSITIVE)
    return check.label(value if not names else name, where)
