"""TREC's file formats: a run (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid relevance`)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data.check import shorten
from cascada.data.group import Group, identified
from cascada.data.lines import Line, Source, records

Run = dict[str, dict[str, float]]
"""Question id → candidate id → score."""

Qrels = dict[str, dict[str, int]]
"""Question id → candidate id → relevance."""

BEIR_HEADER = "query-id corpus-id score"

Value = TypeVar("Value", int, float)


def qrels(groups: Iterable[Group]) -> Qrels:
    """Relevance of the candidates, graded if they have it, with ids filled in by `identified`.

    Candidates without a label are unjudged: left out.
    """
    return {
        str(group.id): {
            str(candidate.id): candidate.gain for candidate in group.candidates if candidate.gain is not None
        }
        for group in identified(groups)
    }


def read_run(path: Source) -> Run:
    """Read a run. The rank column is ignored: scores define the order."""
    run: Run = {}
    for line in records(path, "qid Q0 docid rank score tag"):
        question, _, document, _, score, _ = _fields(line, "qid Q0 docid rank score tag")
        _put(run, question, document, _score(score, line), line)
    return run


def write_run(run: Run, path: Source, tag: str = "cascada") -> None:
    """Write a run, each question's candidates by descending score. Every score reads back as the same float."""
    with atomic_write(path) as file:
        for question, scores in run.items():
            ranked = sorted(scores.items(), key=lambda item: -item[1])
            for rank, (document, score) in enumerate(ranked, 1):
                if not math.isfinite(score):
                    raise DataError(f"{path} was not written: {question} {document} has the score {score}.")
                names = _name(question), _name(document), _name(tag)
                file.write(f"{names[0]} Q0 {names[1]} {rank} {float(score)!r} {names[2]}\n")


def read_qrels(path: Source) -> Qrels:
    """Read relevance judgements, TREC's or BEIR's (three columns under a header). The same pair twice is an error."""
    relevances: Qrels = {}
    layout = "qid 0 docid relevance"
    for line in records(path, layout):
        if line.number == 1 and line.text.lower().split() == BEIR_HEADER.split():
            layout = BEIR_HEADER
            continue
        question, *_, document, relevance = _fields(line, layout)
        _put(relevances, question, document, _relevance(relevance, line), line)
    return relevances


def write_qrels(relevances: Qrels, path: Source) -> None:
    """Write relevance judgements, in the order of `relevances`."""
    with atomic_write(path) as file:
        for question, documents in relevances.items():
            for document, relevance in documents.items():
                file.write(f"{_name(question)} 0 {_name(document)} {int(relevance)}\n")


def _fields(line: Line, names: str) -> list[str]:
    fields = line.text.split()
    if len(fields) != len(names.split()):
        raise line.error(f"expected {names}, found {len(fields)} fields: {shorten(line.text)}")
    return fields


def _put(table: dict[str, dict[str, Value]], question: str, document: str, value: Value, line: Line) -> None:
    documents = table.setdefault(question, {})
    if document in documents:
        raise line.error(f"{document} occurs a second time for question {question}")
    documents[document] = value


def _score(text: str, line: Line) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise line.error(f"expected a number as score, found {shorten(text)}")
    return score


def _relevance(text: str, line: Line) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise line.error(f"expected a whole number as relevance, found {shorten(text)}") from error


def _name(name: str) -> str:
    """Reject a name with white space: it separates the fields of TREC's files, and there is no quoting."""
    if name.split() != [name] or "\ufeff" in name:
        raise DataError(
            f"A TREC file cannot hold {shorten(name)}: ids and tags must not be empty or contain white space."
        )
    return name
