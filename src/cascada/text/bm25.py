"""Okapi BM25: its formula, and an inverted index in memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cascada.text.words import words

K1, B = 1.2, 0.75


Numbers = TypeVar("Numbers", float, NDArray[np.float64])


def rarity(texts: int, having: int) -> float:
    """How much a word says: log(1 + (N − n + ½) / (n + ½)) if n of N texts have it."""
    return log(1 + (texts - having + 0.5) / (having + 0.5))


def weight(count: Numbers, length: Numbers, average: float) -> Numbers:
    """What a word counts that a text of so many words has so often, before its rarity."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BM25Index:
    """Scores every text against a question by adding up the postings of the question's words.

    The same Okapi BM25 that `cascada.ranking` ranks with; here what a word adds to a text is computed once. In memory,
    for up to some hundred thousand sentences.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.vocabulary: dict[str, int] = {}
        word, text, count = array("q"), array("q"), array("d")
        lengths = array("d")
        for number, one in enumerate(texts):
            found = Counter(words(one))
            word.extend(self.vocabulary.setdefault(key, len(self.vocabulary)) for key in found)
            text.extend(number for _ in found)
            count.extend(found.values())
            lengths.append(found.total())
        self._build(np.array(word), np.array(text), np.array(count), np.array(lengths))

    def __len__(self) -> int:
        return self.size

    def rarity(self, word: str) -> float:
        """How much a word says."""
        number = self.vocabulary.get(word)
        return rarity(self.size, 0 if number is None else int(self.first[number + 1] - self.first[number]))

    def scores(self, question: str) -> Floats:
        """(texts,)"""
        total = np.zeros(self.size)
        for word in dict.fromkeys(words(question)):
            number = self.vocabulary.get(word)
            if number is not None:
                postings = slice(self.first[number], self.first[number + 1])
                total[self.texts[postings]] += self.weights[postings]
        return total

    def best(self, question: str, limit: int, scores: Floats | None = None) -> Ints:
        """The texts that share a word with the question, best first, the earlier one of equals; at most `limit`.

        `scores` are the question's, if they are known already.
        """
        scores = self.scores(question) if scores is None else scores
        found = np.flatnonzero(scores)
        if 0 < limit < len(found):
            lowest = np.partition(scores[found], -limit)[-limit]
            found = found[scores[found] >= lowest]
        return found[np.argsort(-scores[found], kind="stable")][:limit]

    def _build(self, word: Ints, text: Ints, count: Floats, lengths: Floats) -> None:
        self.size = len(lengths)
        having = np.bincount(word.astype(np.int64), minlength=len(self.vocabulary))
        self.first = np.concatenate(([0], having.cumsum()))  # postings of word w: first[w] to first[w + 1]
        order = np.argsort(word, kind="stable")
        self.texts = text[order].astype(np.int64)
        average = max(lengths.sum() / max(self.size, 1), 1.0)
        rare = np.repeat([rarity(self.size, int(number)) for number in having], having)
        self.weights = rare * weight(count[order], lengths[self.texts], average)
