"""SQuAD's JSON layout: paragraphs with questions, and where in the paragraph their answers are.

The only reader of this layout, for SQuAD 1.1 and for SQuAD 2, in which a question may have no answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count, groupby
from typing import Any

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data import check
from cascada.data.check import Entry
from cascada.data.lines import Source


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """An answer, and the paragraph's character at which it starts."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a paragraph."""

    id: str
    text: str
    answers: tuple[MarkedAnswer, ...]
    """Empty if the paragraph does not answer the question."""

    @property
    def answer_texts(self) -> tuple[str, ...]:
        """The distinct answers."""
        return tuple(dict.fromkeys(answer.text for answer in self.answers))


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text, and the questions about it."""

    title: str
    """The article's title, with underscores for spaces: it becomes part of ids, which have no spaces."""
    text: str
    questions: tuple[Question, ...]


def read_paragraphs(path: Source) -> list[Paragraph]:
    """Read all paragraphs of a file, in order.

    Every answer must be where `answer_start` says, every question needs an id, and there must be a question. An answer
    with an empty text marks nothing and is left out. Where several questions have the same id, those after the first
    get a number: `7`, `7-2`, `7-3`.
    """
    seen: set[str] = set()
    paragraphs = [_with_distinct_ids(paragraph, seen) for paragraph in _paragraphs(path)]
    if not any(paragraph.questions for paragraph in paragraphs):
        raise DataError(f"{path} has no questions.")
    return paragraphs


def write_paragraphs(paragraphs: Iterable[Paragraph], path: Source) -> None:
    """Write paragraphs in the same layout; those of an article must be adjacent."""
    articles = [
        {"title": title, "paragraphs": [_record(paragraph) for paragraph in members]}
        for title, members in groupby(paragraphs, key=lambda paragraph: paragraph.title)
    ]
    with atomic_write(path) as file:
        json.dump({"version": "1.1", "data": articles}, file, ensure_ascii=False)


def _paragraphs(path: Source) -> Iterator[Paragraph]:
    top = Entry(path, "the document")
    document = check.json_object(check.json_file(path), "SQuAD data", top)
    for number, value in enumerate(check.list_of(document.get("data"), 'articles under "data"', top), 1):
        where = Entry(path, f"article {number}")
        article = check.json_object(value, "an article", where)
        title = "_".join(str(article.get("title") or f"article {number}").split())
        for position, record in enumerate(check.list_of(article.get("paragraphs"), "paragraphs", where), 1):
            yield _paragraph(record, title, Entry(path, f"article {number}, paragraph {position}"))


def _paragraph(value: object, title: str, where: Entry) -> Paragraph:
    record = check.json_object(value, "a paragraph", where)
    text = check.text_field(record, ("context",), where)
    questions = check.list_of(record.get("qas"), 'questions under "qas"', where)
    return Paragraph(title, text, tuple(_question(question, text, where) for question in questions))


def _with_distinct_ids(paragraph: Paragraph, seen: set[str]) -> Paragraph:
    questions = []
    for question in paragraph.questions:
        numbered = (f"{question.id}-{number}" for number in count(2))
        identifier = next(name for name in chain([question.id], numbered) if name not in seen)
        seen.add(identifier)
        questions.append(replace(question, id=identifier))
    return replace(paragraph, questions=tuple(questions))


def _question(value: object, text: str, where: Entry) -> Question:
    record = check.json_object(value, "a question", where)
    identifier = check.identifier(record.get("id"), where)
    if identifier is None:
        raise where.error("expected an id for every question")
    answers = check.list_of(record.get("answers"), "answers", where)
    question = check.question(record.get("question"), where)
    marked = (_answer(answer, text, where) for answer in answers)
    return Question(identifier, question, tuple(answer for answer in marked if answer.text))


def _answer(value: object, text: str, where: Entry) -> MarkedAnswer:
    record = check.json_object(value, "an answer", where)
    answer, start = check.text_field(record, ("text",), where), record.get("answer_start")
    if type(start) is not int or start < 0 or text[start : start + len(answer)] != answer:
        raise where.error(f"expected the answer {check.shorten(answer)} at character {check.shorten(start)}")
    return MarkedAnswer(answer, start)


def _record(paragraph: Paragraph) -> dict[str, Any]:
    questions = [
        {
            "id": question.id,
            "question": question.text,
            "answers": [{"text": answer.text, "answer_start": answer.start} for answer in question.answers],
        }
        for question in paragraph.questions
    ]
    return {"context": paragraph.text, "qas": questions}
