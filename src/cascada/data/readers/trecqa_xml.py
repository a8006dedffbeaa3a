"""TREC-QA as first released (Wang et al. 2007): looks like XML, is not always.

    <QApairs id='1.1'>
    <question>
    Who	wrote	Hamlet	?
    (further lines: parts of speech, parse, …)
    </question>
    <positive>
    …

Bare `&` and `<` stand in the text, so the file is read line by line: the first line inside an element is
its words, separated by tabs; the others are not needed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cascada.core.errors import DataError
from cascada.data import check
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, lines

_GROUP = re.compile(r"""<QApairs\s+id\s*=\s*['"]([^'"]+)['"]\s*>""", re.IGNORECASE)


_LABELS = {"<positive>": 1, "<negative>": 0}


def read(path: Source) -> Iterator[Group]:
    stream = lines(path)
    found = False
    for line in stream:
        if line.text.strip():
            yield _group(line, stream)
            found = True
    if not found:
        raise DataError(f"{path} is empty: expected <QApairs id='…'> elements")


def _group(first: Line, stream: Iterator[Line]) -> Group:
    opening = _GROUP.fullmatch(first.text.strip())
    if not opening:
        raise first.error(f"expected <QApairs id='…'>, found {check.shown(first.text)}")
    question = _element(_next(stream, first), "<question>", stream)
    candidates = []
    while (line := _next(stream, first)).text.strip().lower() != "</qapairs>":
        tag = line.text.strip().lower()
        if tag not in _LABELS:
            raise line.error(f"expected <positive>, <negative> or </QApairs>, found {check.shown(line.text)}")
        candidates.append(Candidate(_element(line, tag, stream), _LABELS[tag]))
    return Group(check.question(question, first), tuple(candidates), opening[1])


def _element(opening: Line, tag: str, stream: Iterator[Line]) -> str:
    if opening.text.strip().lower() != tag:
        raise opening.error(f"expected {tag}, found {check.shown(opening.text)}")
    closing = tag.replace("<", "</")
    words = _next(stream, opening)
    if words.text.strip().lower() == closing:
        raise words.error(f"expected the words of the sentence, found {closing}")
    while _next(stream, opening).text.strip().lower() != closing:
        pass
    return " ".join(words.text.split("\t")).strip()


def _next(stream: Iterator[Line], opened: Line) -> Line:
    """The next line that is not blank; the file must not end inside what `opened` began."""
    for line in stream:
        if line.text.strip():
            return line
    raise opened.error(f"the file ends before {check.shown(opened.text.strip())} is closed")
