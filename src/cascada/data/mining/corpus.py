"""All sentences of the data, each once, and which of them stand near each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from cascada.core.errors import DataError
from cascada.data.group import Candidate, Group
from cascada.text.words import words

NEIGHBOURS = 50
"""Where no articles are known, this many sentences before and after one count as its article."""


def article_of(identifier: str | None) -> str | None:
    """`Warsaw/12` stands in the article `Warsaw`. An id without a slash says nothing about it."""
    return (identifier or "").rpartition("/")[0] or None


def excluding(groups: Iterable[Group], articles: Collection[str]) -> Iterator[Group]:
    """The groups without a sentence of these articles, so that training and test articles stay apart."""
    unwanted = set(articles)
    for position, group in enumerate(groups, 1):
        found = [article_of(candidate.id) for candidate in group.candidates]
        if None in found:
            raise DataError(f"Articles cannot be left out: question {position} has a sentence without an article.")
        if unwanted.isdisjoint(found):
            yield group


class Corpus:
    """The distinct sentences that have a word, in the order of the data, by number from 0."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.sentences: list[Candidate] = []
        self.words: list[frozenset[str]] = []
        self.number: dict[str, int] = {}
        """Text → its number."""
        self._identifiers: set[str | None] = set()
        self._articles: list[str | None] = []
        self._members: defaultdict[str, list[int]] = defaultdict(list)
        for group in groups:
            for candidate in group.candidates:
                self._add(candidate, group.id)

    def __len__(self) -> int:
        return len(self.sentences)

    def near(self, number: int) -> Sequence[int]:
        """The sentences of the same article; where it is not known, the neighbours."""
        article = self._articles[number]
        if article is not None:
            return self._members[article]
        return range(max(0, number - NEIGHBOURS), min(len(self), number + NEIGHBOURS + 1))

    def sentence(self, candidate: Candidate) -> Candidate:
        """A candidate of the data under the id its text has here, with its own label and grade."""
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
        """Ids need to differ only within a question; brought together with others, some are made longer."""
        while identifier in self._identifiers:
            identifier = f"{question}-{identifier}"
        self._identifiers.add(identifier)
        return identifier
