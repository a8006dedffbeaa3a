"""TF-IDF over words and pairs of adjacent words: the retrieval of DrQA, which the DC-BERT paper uses as first stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from math import log, log1p

from cascada.search.passage import Passage
from cascada.text.words import words

Term = tuple[str, ...]

_STOP_WORDS = (
    "a about after all also am an and any are as at be been before being between both but by can could did do does "
    "doing during each few for from further had has have having he her here him his how i if in into is it its just "
    "me more most my no nor not now of off on once only or other our out over own s same she should so some such t "
    "than that the their them then there these they this those through to too under until up very was we were what "
    "when where which while who whom why will with would you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Terms that contain one of these do not count, as in DrQA."""

RESCORED = 1000
"""TF-IDF orders this many passages, the best by BM25."""


class TfIdf:
    """Scores texts by the term statistics of a collection."""

    def __init__(self, texts: int, document_frequency: Callable[[Term], int]) -> None:
        """`texts` is the size of the collection; `document_frequency` counts the texts that contain a term."""
        self.texts = texts
        self.document_frequency = document_frequency

    @classmethod
    def of(cls, texts: Iterable[str]) -> TfIdf:
        """Count the terms of a collection in memory."""
        frequencies: Counter[Term] = Counter()
        size = 0
        for text in texts:
            frequencies.update(set(terms(text)))
            size += 1
        return cls(size, lambda term: frequencies[term])

    def idf(self, term: Term) -> float:
        """log((N − n + ½) / (n + ½)), and 0 for a term that no text contains, or half of them or more."""
        return inverse_frequency(self.texts, self.document_frequency(term))

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """The inner product of the question with each text; a term weighs log(1 + count) · IDF in either."""
        counts = Counter(terms(question))
        idf = {term: self.idf(term) for term in counts}
        weights = {term: log1p(count) * idf[term] ** 2 for term, count in counts.items() if idf[term] > 0}
        return [self._score(weights, text) for text in texts]

    def best(self, question: str, passages: Sequence[Passage], count: int) -> list[Passage]:
        """The `count` best passages with their scores; passages with equal scores keep their order."""
        scores = self.scores(question, [passage.text for passage in passages])
        scored = [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]
        return sorted(scored, key=lambda passage: -passage.score)[:count]

    def _score(self, weights: dict[Term, float], text: str) -> float:
        counts = Counter(term for term in _all_terms(text) if term in weights)
        return sum(weights[term] * log1p(count) for term, count in sorted(counts.items()))


def inverse_frequency(texts: int, frequency: int) -> float:
    """TF-IDF's IDF of a term that `frequency` of `texts` texts contain."""
    return max(0.0, log((texts - frequency + 0.5) / (frequency + 0.5))) if frequency else 0.0


def terms(text: str) -> Iterator[Term]:
    """Words and pairs of adjacent words, without those that contain a stop word."""
    return (term for term in _all_terms(text) if STOP_WORDS.isdisjoint(term))


def _all_terms(text: str) -> Iterator[Term]:
    sequence = words(text)
    return chain(((word,) for word in sequence), pairwise(sequence))
