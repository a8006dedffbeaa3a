"""TF-IDF of words and pairs of words, as DrQA's retriever scores them: the first stage of the DC-BERT paper.

A term, a word or two in a row, weighs log(1 + count) · log((N − n + ½) / (n + ½)) if n of N passages have it; a term
that more than half of them have weighs nothing. A passage's score is the inner product of its weights and the
question's. DrQA hashes its terms into 2²⁴ numbers to hold them in a matrix; nothing is hashed here, so no two terms are
taken for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from math import log, log1p

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
