"""Two parallel files: one question per line, and on the same line of the other file the sentence that answers it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from cascada.core.errors import DataError
from cascada.data import check
from cascada.data.articles import recover_articles
from cascada.data.group import Candidate, Group
from cascada.data.lines import Line, Source, records
from cascada.text.words import detokenise


def read(
    questions: Source, sentences: Source, *, articles: Source | None = None, tokenised: bool = False
) -> Iterator[Group]:
    """Stream one group per line, with one correct candidate.

    `articles` either has as many lines, each with the title of that line's article; or it lists the titles in the order
    of their articles, and the boundaries are inferred from the words. With articles, ids are `article/line`.
    `tokenised` text is detokenised.
    """
    pairs = list(_pairs(questions, sentences))
    titles = [None] * len(pairs) if articles is None else _titles(articles, pairs)
    cleaned = detokenise if tokenised else str.strip
    for (question, sentence), title in zip(pairs, titles, strict=True):
        identifier = None if title is None else f"{title}/{question.number}"
        yield Group(cleaned(question.text), (Candidate(cleaned(sentence.text), 1, identifier),), identifier)


def article_titles(path: Source) -> list[str]:
    """Read titles, one per line, with underscores for spaces: they become part of ids, which have no spaces."""
    return ["_".join(line.text.split()) for line in _filled(path, "one title of an article per line")]


def _titles(path: Source, pairs: list[tuple[Line, Line]]) -> list[str]:
    titles = article_titles(path)
    if len(titles) > len(pairs):
        raise DataError(f"{path} has {len(titles)} articles for {len(pairs)} questions: expected at most one each.")
    if len(titles) == len(pairs):
        return titles
    return recover_articles(_distinct_lines(pairs), titles)


def _distinct_lines(pairs: list[tuple[Line, Line]]) -> list[str]:
    """Each question with its sentence, if the sentence is new: one that occurs ten times would look like a topic."""
    seen: set[str] = set()
    texts = []
    for question, sentence in pairs:
        texts.append(question.text if sentence.text in seen else f"{question.text} {sentence.text}")
        seen.add(sentence.text)
    return texts


def _pairs(questions: Source, sentences: Source) -> Iterator[tuple[Line, Line]]:
    left, right = _filled(questions, "one question per line"), _filled(sentences, "one sentence per line")
    for question, sentence in zip_longest(left, right):
        if question is None or sentence is None:
            raise _unpaired(question or sentence, left if sentence is None else right, questions, sentences)
        yield question, sentence


def _unpaired(line: Line, rest: Iterable[Line], questions: Source, sentences: Source) -> DataError:
    """An error that names the longer file, by how much it is longer, and where the other one ends."""
    more = 1 + sum(1 for _ in rest)
    shorter = sentences if line.path == questions else questions
    return line.error(
        f"{check.shorten(line.text)} has no partner: {shorter} ends after line {line.number - 1}, "
        f"{more} {'line' if more == 1 else 'lines'} shorter. A question and its sentence need the same line number."
    )


def _filled(path: Source, expected: str) -> Iterator[Line]:
    for line in records(path, expected):
        if not line.text.strip():
            raise line.error(f"expected {expected}, found an empty line")
        yield line
