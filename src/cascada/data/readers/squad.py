"""SQuAD v1.1 JSON: a question against the sentences of its paragraph; those where an answer starts are correct."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from cascada.data.group import Candidate, Group
from cascada.data.lines import Source
from cascada.data.spans import Question, read_paragraphs
from cascada.text.sentences import Sentence, sentences


def read(path: Source) -> Iterator[Group]:
    """Stream the groups of a file. A candidate's id is `{paragraph}-{sentence}`, both counted from 1."""
    for number, paragraph in enumerate(read_paragraphs(path), 1):
        parts = sentences(paragraph.text) if paragraph.questions else []
        for question in paragraph.questions:
            yield _group(question, parts, number)


def _group(question: Question, parts: list[Sentence], paragraph: int) -> Group:
    correct = {_sentence_at(answer.start, parts) for answer in question.answers}
    candidates = (
        Candidate(sentence.text, int(index in correct), f"{paragraph}-{index + 1}")
        for index, sentence in enumerate(parts)
    )
    return Group(question.text, tuple(candidates), question.id)


def _sentence_at(character: int, parts: list[Sentence]) -> int:
    """Index of the sentence that contains a character, or precedes it if it is white space."""
    return max(0, bisect_right(parts, character, key=lambda sentence: sentence.start) - 1)
