"""BM25 over the candidates themselves: no training, no model, no torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cascada.ranking.executor import rows_of
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.bm25 import rarity, weight
from cascada.text.words import words


@dataclass(frozen=True)
class Background:
    """What BM25 has to know of a collection of texts."""

    texts: int
    words: int
    having: Mapping[str, int]
    """Word → how many texts have it."""

    @classmethod
    def of(cls, texts: Iterable[Counter[str]]) -> Background:
        """From the words of each text."""
        count = total = 0
        having: Counter[str] = Counter()
        for text in texts:
            count, total = count + 1, total + text.total()
            having.update(text.keys())
        return cls(count, total, having)

    @property
    def average_length(self) -> float:
        """Words of a text, at least 1."""
        return max(self.words / max(self.texts, 1), 1.0)

    def rarity(self, word: str) -> float:
        """How much a word says."""
        return rarity(self.texts, self.having.get(word, 0))


class BM25Stage:
    """Okapi BM25. How rare a word is comes from a background, or else from the question's own candidates."""

    exit = 0
    layers = 0

    def __init__(self, background: Background | None = None) -> None:
        self.background = background

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        scores = np.zeros(len(pairs), np.float32)
        for question, rows in zip(pairs.questions, rows_of(pairs.owner, len(pairs.questions)), strict=True):
            scores[rows] = self._score_group(question, [pairs.texts[row] for row in rows])
        return Scored(scores)

    def flops(self, tokens: Ints) -> Ints:
        return np.zeros_like(tokens)

    def probability(self, scores: Floats) -> Floats:
        """x / (1 + x): not a probability of being right, only the same order between 0 and 1."""
        return scores / (1 + scores)

    def _score_group(self, question: str, texts: list[str]) -> Floats:
        documents = [Counter(words(text)) for text in texts]
        background = self.background or Background.of(documents)
        lengths = np.array([document.total() for document in documents], np.float64)
        scores = np.zeros(len(texts))
        for word in dict.fromkeys(words(question)):
            count = np.array([document[word] for document in documents], np.float64)  # (candidates,)
            scores += background.rarity(word) * weight(count, lengths, background.average_length)
        return scores.astype(np.float32)
