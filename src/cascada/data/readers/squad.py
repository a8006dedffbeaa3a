"""SQuAD v1.1 JSON: a question against the sentences of its paragraph; those where an answer starts are correct."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from cascada.data import check
from cascada.data.check import Entry
from cascada.data.group import Candidate, Group
from cascada.data.lines import Source
from cascada.text.sentences import Sentence, sentences


def read(path: Source) -> Iterator[Group]:
    for number, paragraph in enumerate(_paragraphs(path), 1):
        where = Entry(path, f"paragraph {number}")
        record = check.mapping(paragraph, "a paragraph", where)
        context = check.one_of(record, ("context",), where)
        found = sentences(context)
        for question in check.items(record.get("qas"), 'questions under "qas"', where):
            yield _group(check.mapping(question, "a question", where), context, found, number, where)


def _paragraphs(path: Source) -> Iterator[Any]:
    top = Entry(path, "the document")
    document = check.mapping(check.json_file(path), "SQuAD data", top)
    for number, article in enumerate(check.items(document.get("data"), 'articles under "data"', top), 1):
        where = Entry(path, f"article {number}")
        yield from check.items(check.mapping(article, "an article", where).get("paragraphs"), "paragraphs", where)


def _group(record: dict[str, Any], context: str, found: list[Sentence], paragraph: int, where: Entry) -> Group:
    answers = check.items(record.get("answers"), "answers", where)
    correct = {_sentence_of(answer, context, found, where) for answer in answers}
    candidates = (
        Candidate(sentence.text, int(index in correct), f"{paragraph}-{index + 1}")
        for index, sentence in enumerate(found)
    )
    question = check.question(record.get("question"), where)
    return Group(question, tuple(candidates), check.identifier(record.get("id"), where))


def _sentence_of(answer: object, context: str, found: list[Sentence], where: Entry) -> int:
    """The sentence that is open where the answer starts."""
    start = check.mapping(answer, "an answer", where).get("answer_start")
    if type(start) is not int or not 0 <= start < len(context):
        raise where.error(f"expected answer_start from 0 to {len(context) - 1}, found {check.shown(start)}")
    return max(0, bisect_right(found, start, key=lambda sentence: sentence.start) - 1)
