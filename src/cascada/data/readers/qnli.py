"""QNLI: a header, then lines of index, question, sentence and label; the test set has no labels."""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data import check
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, records

LABELLED = "index, question, sentence, label"
UNLABELLED = "index, question, sentence"
_LABELS = {"entailment": 1, "not_entailment": 0}


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    return grouped(_rows(path))


def _rows(path: Source) -> Iterator[Row]:
    header = ""
    for line in records(path, f"a header ({LABELLED}) and lines under it"):
        if line.number == 1:
            header = _header(line)
        else:
            yield _row(line, header)


def _header(line: Line) -> str:
    header = line.text.replace("\t", ", ")
    if header not in (LABELLED, UNLABELLED):
        raise line.error(f"expected the header {LABELLED}, found {check.shorten(line.text)}")
    return header


def _row(line: Line, header: str) -> Row:
    index, question, sentence, *rest = check.columns(line, header)
    if rest and rest[0] not in _LABELS:
        raise line.error(f"expected entailment or not_entailment, found {check.shorten(rest[0])}")
    label = _LABELS[rest[0]] if rest else None
    return Row(check.question(question, line), Candidate(sentence, label, index))
