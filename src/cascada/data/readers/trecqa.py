"""TREC-QA: JSONL, `{id, question, candidates: [{sentence, label}]}`, or the first release (Wang et al. 2007).

The first release looks like XML but is not always valid XML:

    <QApairs id='1.1'>
    <question>
    Who	wrote	Hamlet	?
    (further lines: parts of speech, parse, …)
    </question>
    <positive>
    …

The text contains bare `&` and `<`, so the file is parsed line by line: the first line inside an element has its words,
separated by tabs; the other lines are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cascada.core.errors import DataError
from cascada.data import check
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, lines
from cascada.data.readers import jsonl

_GROUP = re.compile(r"""<QApairs\s+id\s*=\s*['"]([^'"]+)['"]\s*>""", re.IGNORECASE)
_LABELS = {"<positive>": 1, "<negative>": 0}


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file; its ending decides which of the two layouts it has."""
    is_xml = str(path).lower().removesuffix(".gz").endswith(".xml")
    return _read_xml(path) if is_xml else jsonl.read(path)


def _read_xml(path: Source) -> Iterator[Group]:
    stream = lines(path)
    empty = True
    for line in stream:
        if line.text.strip():
            yield _group(line, stream)
            empty = False
    if empty:
        raise DataError(f"{path} is empty: expected <QApairs id='…'> elements")


def _group(first: Line, stream: Iterator[Line]) -> Group:
    opening = _GROUP.fullmatch(first.text.strip())
    if not opening:
        raise first.error(f"expected <QApairs id='…'>, found {check.shorten(first.text)}")
    question = _element(_next(stream, first), "<question>", stream)
    candidates = []
    while (line := _next(stream, first)).text.strip().lower() != "</qapairs>":
        tag = line.text.strip().lower()
        if tag not in _LABELS:
            raise line.error(f"expected <positive>, <negative> or </QApairs>, found {check.shorten(line.text)}")
        candidates.append(Candidate(_element(line, tag, stream), _LABELS[tag]))
    return Group(check.question(question, first), tuple(candidates), opening[1])


def _element(opening: Line, tag: str, stream: Iterator[Line]) -> str:
    if opening.text.strip().lower() != tag:
        raise opening.error(f"expected {tag}, found {check.shorten(opening.text)}")
    closing = tag.replace("<", "</")
    words = _next(stream, opening)
    if words.text.strip().lower() == closing:
        raise words.error(f"expected the words of the sentence, found {closing}")
    while _next(stream, opening).text.strip().lower() != closing:
        pass
    return " ".join(words.text.split("\t")).strip()


def _next(stream: Iterator[Line], opened: Line) -> Line:
    """The next line that is not blank. It is an error if the file ends inside the element that `opened` begins."""
    for line in stream:
        if line.text.strip():
            return line
    raise opened.error(f"the file ends before {check.shorten(opened.text.strip())} is closed")
