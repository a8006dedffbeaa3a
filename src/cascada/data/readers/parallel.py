"""Two files side by side: a question a line, and in the same line of the other file the sentence that answers it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from cascada.core.errors import DataError
from cascada.data import check
from cascada.data.articles import recover
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, records
from cascada.text.words import detokenise


def read(
    questions: Source, sentences: Source, *, articles: Source | None = None, tokenised: bool = False
) -> Iterator[Group]:
    """One group a line, with its one correct candidate.

    `articles` names the article of each line in a line of its own, or lists the titles in the order their articles
    follow each other; then the boundaries are found from the words. Ids are `article/line` where articles are known.
    `tokenised` text is written as people write it.
    """
    pairs = list(_pairs(questions, sentences))
    titles = [None] * len(pairs) if articles is None else _titles(articles, pairs)
    cleaned = detokenise if tokenised else str.strip
    for (question, sentence), title in zip(pairs, titles, strict=True):
        identifier = None if title is None else f"{title}/{question.number}"
        yield Group(cleaned(question.text), (Candidate(cleaned(sentence.text), 1, identifier),), identifier)


def names(path: Source) -> list[str]:
    """A list of articles, one a line; spaces as underscores, since ids hold none."""
    return ["_".join(line.text.split()) for line in _filled(path, "the name of an article a line")]


def _titles(path: Source, pairs: list[tuple[Line, Line]]) -> list[str]:
    titles = names(path)
    if len(titles) > len(pairs):
        raise DataError(f"{path} has {len(titles)} articles for {len(pairs)} questions: expected at most one each.")
    if len(titles) == len(pairs):
        return titles
    return recover(_said_once(pairs), titles)


def _said_once(pairs: list[tuple[Line, Line]]) -> list[str]:
    """Each question with its sentence, but a sentence only where it first stands: asked ten times, it would seem a
    topic of its own."""
    said: set[str] = set()
    texts = []
    for question, sentence in pairs:
        texts.append(question.text if sentence.text in said else f"{question.text} {sentence.text}")
        said.add(sentence.text)
    return texts


def _pairs(questions: Source, sentences: Source) -> Iterator[tuple[Line, Line]]:
    left, right = _filled(questions, "a question a line"), _filled(sentences, "a sentence a line")
    for question, sentence in zip_longest(left, right):
        if question is None or sentence is None:
            raise _alone(question or sentence, left if sentence is None else right, questions, sentences)
        yield question, sentence


def _alone(line: Line, rest: Iterable[Line], questions: Source, sentences: Source) -> DataError:
    """The longer file, by how much, and where the other one ends."""
    more = 1 + sum(1 for _ in rest)
    shorter = sentences if line.path == questions else questions
    return line.error(
        f"{check.shown(line.text)} has no partner: {shorter} ends after line {line.number - 1}, "
        f"{more} {'line' if more == 1 else 'lines'} shorter. Questions and sentences must stand line by line."
    )


def _filled(path: Source, expected: str) -> Iterator[Line]:
    for line in records(path, expected):
        if not line.text.strip():
            raise line.error(f"expected {expected}, found an empty line")
        yield line
