"""BM25 over the candidates themselves: no training, no model, no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cascada.ranking.executor import rows_of
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.bm25 import idf, term_weight
from cascada.text.words import words


@dataclass(frozen=True)
class Collection:
    """Statistics of a collection of texts: what IDF and length normalisation need."""

    texts: int
    words: int
    document_frequency: Mapping[str, int]
    """Word → number of texts that contain it."""

    @classmethod
    def of(cls, texts: Iterable[Counter[str]]) -> Collection:
        """Count the texts, each given as its bag of words."""
        count = total = 0
        document_frequency: Counter[str] = Counter()
        for text in texts:
            count, total = count + 1, total + text.total()
            document_frequency.update(text.keys())
        return cls(count, total, document_frequency)

    @property
    def average_length(self) -> float:
        """Mean number of words per text, at least 1."""
        return max(self.words / max(self.texts, 1), 1.0)

    def idf(self, word: str) -> float:
        """Inverse document frequency of a word in the collection."""
        return idf(self.texts, self.document_frequency.get(word, 0))


class BM25Stage:
    """Okapi BM25. IDF and average length come from a collection, or else from the question's own candidates."""

    exit = 0
    layers = 0
    is_start = True
    compares_candidates = True

    def __init__(self, collection: Collection | None = None) -> None:
        self.collection = collection

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        scores = np.zeros(len(pairs), np.float32)
        for question, rows in zip(pairs.questions, rows_of(pairs.owner, len(pairs.questions)), strict=True):
            scores[rows] = self._score_group(question, [pairs.texts[row] for row in rows])
        return Scored(scores)

    def flops(self, tokens: Ints) -> Ints:
        return np.zeros_like(tokens)

    def probability(self, scores: Floats) -> Floats:
        """x / (1 + x): the same order between 0 and 1, not a probability of being correct."""
        known: Floats = np.maximum(scores, 0)  # a prior may take a score below 0
        return known / (1 + known)

    def _score_group(self, question: str, texts: list[str]) -> Floats:
        documents = [Counter(words(text)) for text in texts]
        collection = self.collection or Collection.of(documents)
        lengths = np.array([document.total() for document in documents], np.float64)
        scores = np.zeros(len(texts))
        for word in dict.fromkeys(words(question)):
            count = np.array([document[word] for document in documents], np.float64)  # (candidates,)
            scores += collection.idf(word) * term_weight(count, lengths, collection.average_length)
        return scores.astype(np.float32)
