"""Paragraphs with questions and the places of their answers, in SQuAD's JSON layout (1.1, or 2 with no answers)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cascada.core.errors import DataError
from cascada.core.files import atomic_write
from cascada.data import check
from cascada.data.check import Entry
from cascada.data.lines import Source


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """Characters `start` up to `start + len(text)` of the paragraph."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """Asked about a paragraph."""

    id: str
    text: str
    answers: tuple[MarkedAnswer, ...]
    """None of them: the paragraph does not answer."""

    @property
    def answer_texts(self) -> tuple[str, ...]:
        """Each once."""
        return tuple(dict.fromkeys(answer.text for answer in self.answers))


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text, and what was asked about it."""

    title: str
    """The article's; spaces as underscores, since ids hold none."""
    text: str
    questions: tuple[Question, ...]


def read_paragraphs(path: Source) -> list[Paragraph]:
    """All paragraphs of a file, in order. Every answer must stand where it is said to stand, every id once."""
    found = list(_paragraphs(path))
    seen: set[str] = set()
    for question in (question for paragraph in found for question in paragraph.questions):
        if question.id in seen:
            raise DataError(f"{path}: two questions have the id {question.id!r}.")
        seen.add(question.id)
    if not seen:
        raise DataError(f"{path} has no questions.")
    return found


def write_paragraphs(paragraphs: Iterable[Paragraph], path: Source) -> None:
    """The same layout again; paragraphs of an article must follow each other."""
    articles = [
        {"title": title, "paragraphs": [_record(paragraph) for paragraph in members]}
        for title, members in groupby(paragraphs, key=lambda paragraph: paragraph.title)
    ]
    with atomic_write(path) as file:
        json.dump({"version": "1.1", "data": articles}, file, ensure_ascii=False)


def _paragraphs(path: Source) -> Iterator[Paragraph]:
    top = Entry(path, "the document")
    document = check.mapping(check.json_file(path), "SQuAD data", top)
    for number, value in enumerate(check.items(document.get("data"), 'articles under "data"', top), 1):
        where = Entry(path, f"article {number}")
        article = check.mapping(value, "an article", where)
        title = "_".join(str(article.get("title") or f"article {number}").split())
        for place, one in enumerate(check.items(article.get("paragraphs"), "paragraphs", where), 1):
            yield _paragraph(one, title, Entry(path, f"article {number}, paragraph {place}"))


def _paragraph(value: object, title: str, where: Entry) -> Paragraph:
    record = check.mapping(value, "a paragraph", where)
    text = check.one_of(record, ("context",), where)
    asked = check.items(record.get("qas"), 'questions under "qas"', where)
    return Paragraph(title, text, tuple(_question(one, text, where) for one in asked))


def _question(value: object, text: str, where: Entry) -> Question:
    record = check.mapping(value, "a question", where)
    identifier = check.identifier(record.get("id"), where)
    if identifier is None:
        raise where.error("expected an id for every question")
    answers = check.items(record.get("answers"), "answers", where)
    question = check.question(record.get("question"), where)
    return Question(identifier, question, tuple(_answer(one, text, where) for one in answers))


def _answer(value: object, text: str, where: Entry) -> MarkedAnswer:
    record = check.mapping(value, "an answer", where)
    answer, start = check.one_of(record, ("text",), where), record.get("answer_start")
    if type(start) is not int or start < 0 or not answer or text[start : start + len(answer)] != answer:
        raise where.error(f"expected the answer {check.shown(answer)} at character {check.shown(start)}")
    return MarkedAnswer(answer, start)


def _record(paragraph: Paragraph) -> dict[str, Any]:
    questions = [
        {
            "id": one.id,
            "question": one.text,
            "answers": [{"text": answer.text, "answer_start": answer.start} for answer in one.answers],
        }
        for one in paragraph.questions
    ]
    return {"context": paragraph.text, "qas": questions}
