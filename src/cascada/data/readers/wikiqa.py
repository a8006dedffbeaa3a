"""WikiQA as released (seven columns with a header), or with three columns: question, sentence, label."""

from __future__ import annotations

from collections.abc import Iterator

from cascada.data import check
from cascada.data.collect import Row, grouped
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, records

SEVEN = "QuestionID, Question, DocumentID, DocumentTitle, SentenceID, Sentence, Label"
THREE = "question, sentence, label"


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file."""
    return grouped(_rows(path))


def _rows(path: Source) -> Iterator[Row]:
    seven = False
    for line in records(path, f"lines of {THREE}, or {SEVEN}"):
        if line.number == 1 and line.text.startswith("QuestionID\t"):
            seven = bool(check.columns(line, SEVEN))
        else:
            yield _of_seven(line) if seven else _of_three(line)


def _of_seven(line: Line) -> Row:
    question_id, question, _, _, sentence_id, sentence, label = check.columns(line, SEVEN)
    candidate = Candidate(sentence, check.label(label, line), sentence_id)
    return Row(check.question(question, line), candidate, question_id)


def _of_three(line: Line) -> Row:
    question, sentence, label = check.columns(line, THREE)
    return Row(check.question(question, line), Candidate(sentence, check.label(label, line)))
