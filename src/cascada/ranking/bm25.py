"""BM25 over the candidates themselves: no training, no model, no torch."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from cascada.ranking.executor import rows_of
from cascada.ranking.stage import Floats, Pairs, Scored

WORD = re.compile(r"\w+")


class BM25Stage:
    """Okapi BM25; how rare a word is, is counted over the question's own candidates."""

    exit = 0
    layers = 0

    def __init__(self, *, k1: float = 1.2, b: float = 0.75) -> None:
        self.k1 = k1
        self.b = b

    def score(self, pairs: Pairs, state: Any) -> Scored:
        scores = np.zeros(len(pairs), np.float32)
        for question, rows in zip(pairs.questions, rows_of(pairs.owner, len(pairs.questions)), strict=True):
            scores[rows] = self._score_group(question, [pairs.texts[row] for row in rows])
        return Scored(scores)

    def probability(self, scores: Floats) -> Floats:
        """x / (1 + x): not a probability of being right, only the same order between 0 and 1."""
        return scores / (1 + scores)

    def _score_group(self, question: str, texts: list[str]) -> Floats:
        documents = [Counter(words(text)) for text in texts]
        lengths = np.array([document.total() for document in documents], np.float64)
        norm = self.k1 * (1 - self.b + self.b * lengths / max(lengths.mean(), 1)) if texts else lengths
        scores = np.zeros(len(texts))
        for word in dict.fromkeys(words(question)):
            count = np.array([document[word] for document in documents], np.float64)  # (candidates,)
            having = np.count_nonzero(count)
            rarity = np.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            scores += rarity * count * (self.k1 + 1) / (count + norm)
        return scores.astype(np.float32)


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())
