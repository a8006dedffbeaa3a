"""What finds passages for a question: a small protocol, so that any search engine can stand there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from math import log, log1p
from typing import Literal, Protocol, get_args

from cascada.core.errors import CascadaError
from cascada.search.passages import Passage
from cascada.text.bm25 import BM25Index
from cascada.text.words import words

Scoring = Literal["bm25", "tfidf"]


class Retriever(Protocol):
    """A search engine of your own needs this one method:

        class Mine:
            def retrieve(self, question: str, count: int) -> list[Passage]:
                return [Passage(hit.text, hit.name, hit.start, hit.end, hit.score) for hit in ask_mine(question, count)]

    A passage is a piece of a document, with the place of its first character and the one after its last.
    """

    def retrieve(self, question: str, count: int) -> Sequence[Passage]:
        """At most `count` passages, best first; none if nothing fits."""
        ...


def checked_scoring(scoring: str) -> Scoring:
    """The scoring of that name, or a sentence with those there are."""
    if scoring not in get_args(Scoring):
        raise CascadaError(f"The scoring is {scoring!r}; it must be bm25 or tfidf.")
    return scoring  # type: ignore[return-value]


Term = tuple[str, ...]


_STOP_WORDS = (
    "a about after all also am an and any are as at be been before being between both but by can could did do does "
    "doing during each few for from further had has have having he her here him his how i if in into is it its just "
    "me more most my no nor not now of off on once only or other our out over own s same she should so some such t "
    "than that the their them then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your"
)


STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Terms with one of these in them are not counted, as in DrQA."""


CANDIDATES = 1000
"""A search engine that cannot score by TF-IDF itself finds this many, and they are scored here."""


def terms(text: str) -> Iterator[Term]:
    """Words and pairs without stop words."""
    return (term for term in _all_terms(text) if STOP_WORDS.isdisjoint(term))


def _all_terms(text: str) -> Iterator[Term]:
    found = words(text)
    return chain(((word,) for word in found), pairwise(found))


class TfIdf:
    """Scores texts, given how many there are and how many have a term."""

    def __init__(self, texts: int, having: Callable[[Term], int]) -> None:
        self.texts = texts
        self.having = having

    def rarity(self, term: Term) -> float:
        """0 for a term that half of the texts have, or none."""
        having = self.having(term)
        return max(0.0, log((self.texts - having + 0.5) / (having + 0.5))) if having else 0.0

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Of each text."""
        asked = Counter(terms(question))
        rarity = {term: self.rarity(term) for term in asked}
        weights = {term: log1p(count) * rarity[term] ** 2 for term, count in asked.items() if rarity[term] > 0}
        return [self._score(weights, text) for text in texts]

    def _score(self, weights: dict[Term, float], text: str) -> float:
        counts = Counter(term for term in _all_terms(text) if term in weights)
        return sum(weights[term] * log1p(count) for term, count in sorted(counts.items()))


class MemoryRetriever:
    """BM25 or TF-IDF over a list of passages.

    >>> found = MemoryRetriever([Passage("Hamlet is by Shakespeare.", "plays.txt", 0, 25)])
    >>> found.retrieve("who wrote hamlet?", 80)[0].document
    'plays.txt'
    """

    def __init__(self, passages: Iterable[Passage], *, scoring: str = "bm25") -> None:
        self.passages = list(passages)
        texts = [passage.text for passage in self.passages]
        self._index = BM25Index(texts)
        self._tfidf = _tfidf(texts) if checked_scoring(scoring) == "tfidf" else None

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        if self._tfidf:
            return self._by_tfidf(self._tfidf, question, count)
        scores = self._index.scores(question)
        best = self._index.best(question, count, scores)
        return [replace(self.passages[number], score=float(scores[number])) for number in best]

    def _by_tfidf(self, tfidf: TfIdf, question: str, count: int) -> list[Passage]:
        found = [self.passages[number] for number in self._index.best(question, max(count, CANDIDATES))]
        return rescored(tfidf, question, found, count)


def rescored(tfidf: TfIdf, question: str, passages: list[Passage], count: int) -> list[Passage]:
    """The best of the passages by TF-IDF, in their old order where it says nothing."""
    scores = tfidf.scores(question, [passage.text for passage in passages])
    found = [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(found, key=lambda passage: -passage.score)[:count]


def _tfidf(texts: list[str]) -> TfIdf:
    having: Counter[Term] = Counter()
    for text in texts:
        having.update(set(terms(text)))
    return TfIdf(len(texts), lambda term: having[term])
