"""The distinct sentences of the data, and which of them are in the same article."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from cascada.core.errors import DataError
from cascada.data.group import Candidate, Group
from cascada.text.words import words

NEIGHBOURS = 50
"""If the article of a sentence is not known, this many sentences before and after it stand in for the article."""


def article_of(identifier: str | None) -> str | None:
    """The article in an id: `Warsaw` for `Warsaw/12`; None for an id without a slash."""
    return (identifier or "").rpartition("/")[0] or None


def excluding(groups: Iterable[Group], articles: Collection[str]) -> Iterator[Group]:
    """Drop the groups that have a sentence of these articles, to keep training and test articles separate."""
    unwanted = set(articles)
    for position, group in enumerate(groups, 1):
        names = [article_of(candidate.id) for candidate in group.candidates]
        if None in names:
            raise DataError(f"Articles cannot be excluded: question {position} has a sentence without an article.")
        if unwanted.isdisjoint(names):
            yield group


class Corpus:
    """The distinct sentences that have a word, numbered from 0 in the order of the data."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.sentences: list[Candidate] = []
        self.words: list[frozenset[str]] = []
        self.number: dict[str, int] = {}
        """Text of a sentence → its number."""
        self._identifiers: set[str | None] = set()
        self._articles: list[str | None] = []
        self._members: defaultdict[str, list[int]] = defaultdict(list)
        for group in groups:
            for candidate in group.candidates:
                self._add(candidate, group.id)

    def __len__(self) -> int:
        return len(self.sentences)

    def near(self, number: int) -> Sequence[int]:
        """Numbers of the sentences of the same article; if it is not known, of the neighbouring sentences."""
        article = self._articles[number]
        if article is not None:
            return self._members[article]
        return range(max(0, number - NEIGHBOURS), min(len(self), number + NEIGHBOURS + 1))

    def sentence(self, candidate: Candidate) -> Candidate:
        """A candidate of the data with the id that its text has here, and its own label and grade."""
        number = self.number.get(candidate.text)
        return candidate if number is None else replace(candidate, id=self.sentences[number].id)

    def _add(self, candidate: Candidate, question: str | None) -> None:
        bag = frozenset(words(candidate.text))
        if not bag or candidate.text in self.number:
            return
        number = self.number[candidate.text] = len(self.sentences)
        article = article_of(candidate.id)
        self.sentences.append(Candidate(candidate.text, id=self._unique(candidate.id, question)))
        self.words.append(bag)
        self._articles.append(article)
        if article is not None:
            self._members[article].append(number)

    def _unique(self, identifier: str | None, question: str | None) -> str | None:
        """Ids are unique only within a question of the data: one that is taken gets the question's id as a prefix."""
        while identifier in self._identifiers:
            identifier = f"{question}-{identifier}"
        self._identifiers.add(identifier)
        return identifier
