"""TREC's two files: a run (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid relevance`)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data.check import shown
from cascada.data.group import Group, identified
from cascada.data.lines import Line, Source, records

Run = dict[str, dict[str, float]]
"""Question id → candidate id → score."""


Qrels = dict[str, dict[str, int]]
"""Question id → candidate id → relevance."""


Value = TypeVar("Value", int, float)


def qrels(groups: Iterable[Group]) -> Qrels:
    """The labels of the groups, under their ids or the ones `identified` gives. Unlabelled candidates are unjudged."""
    return {
        str(group.id): {str(one.id): one.label for one in group.candidates if one.label is not None}
        for group in identified(groups)
    }


def read_run(path: Source) -> Run:
    """Scores by question and candidate. The rank column is not used: a run's order is its scores."""
    run: Run = {}
    for line in records(path, "qid Q0 docid rank score tag"):
        question, _, document, _, score, _ = _fields(line, "qid Q0 docid rank score tag")
        _put(run, question, document, _score(score, line), line)
    return run


def write_run(run: Run, path: Source, tag: str = "cascada") -> None:
    """Questions stand in the order of `run`, candidates by falling score; every score reads back as the same float."""
    with atomic_write(path) as file:
        for question, scores in run.items():
            ranked = sorted(scores.items(), key=lambda item: -item[1])
            for rank, (document, score) in enumerate(ranked, 1):
                if not math.isfinite(score):
                    raise DataError(f"{path} was not written: {question} {document} has the score {score}.")
                names = _name(question), _name(document), _name(tag)
                file.write(f"{names[0]} Q0 {names[1]} {rank} {float(score)!r} {names[2]}\n")


def read_qrels(path: Source) -> Qrels:
    """Relevances by question and candidate; a pair that stands there twice is a mistake."""
    relevances: Qrels = {}
    for line in records(path, "qid 0 docid relevance"):
        question, _, document, relevance = _fields(line, "qid 0 docid relevance")
        _put(relevances, question, document, _relevance(relevance, line), line)
    return relevances


def write_qrels(relevances: Qrels, path: Source) -> None:
    """As `read_qrels` reads them, in the order they have."""
    with atomic_write(path) as file:
        for question, documents in relevances.items():
            for document, relevance in documents.items():
                file.write(f"{_name(question)} 0 {_name(document)} {int(relevance)}\n")


def _fields(line: Line, names: str) -> list[str]:
    fields = line.text.split()
    if len(fields) != len(names.split()):
        raise line.error(f"expected {names}, found {len(fields)} fields: {shown(line.text)}")
    return fields


def _put(table: dict[str, dict[str, Value]], question: str, document: str, value: Value, line: Line) -> None:
    documents = table.setdefault(question, {})
    if document in documents:
        raise line.error(f"{document} stands there a second time for question {question}")
    documents[document] = value


def _score(text: str, line: Line) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise line.error(f"expected a number as score, found {shown(text)}")
    return score


def _relevance(text: str, line: Line) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise line.error(f"expected a whole number as relevance, found {shown(text)}") from error


def _name(name: str) -> str:
    """TREC's files separate fields by white space and have no way to quote it."""
    if name.split() != [name] or "\ufeff" in name:
        raise DataError(f"A TREC file cannot hold {shown(name)}: ids and tags must not be empty or hold white space.")
    return name
