"""Okapi BM25: its formula, and an inverted index in memory.

The score of a text is the sum, over the question's distinct words, of `idf` · `term_weight`.
"""

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

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = TypeVar("Numbers", float, NDArray[np.float64])


def idf(texts: int, document_frequency: int) -> float:
    """Inverse document frequency, log(1 + (N − n + ½) / (n + ½)), of a word that n of N texts contain."""
    return log(1 + (texts - document_frequency + 0.5) / (document_frequency + 0.5))


def term_weight(count: Numbers, length: Numbers, average_length: float) -> Numbers:
    """BM25 term weight without IDF, for `count` occurrences in a text of `length` words."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average_length))


def best_matching(scores: Floats, limit: int) -> Ints:
    """Numbers of up to `limit` texts with a score other than 0, best first; ties in order of the texts."""
    matching = np.flatnonzero(scores)
    if 0 < limit < len(matching):
        lowest = np.partition(scores[matching], -limit)[-limit]
        matching = matching[scores[matching] >= lowest]
    return matching[np.argsort(-scores[matching], kind="stable")][:limit]


class BM25Index:
    """Scores all texts against a question from the postings of the question's words.

    A word's contribution to a text is computed once, when the index is built. Scores equal those of the BM25 ranker
    with all texts as its collection. For up to some hundred thousand sentences.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.vocabulary: dict[str, int] = {}
        """Word → its number."""
        word_numbers, text_numbers, counts = array("q"), array("q"), array("d")  # one entry per posting
        lengths = array("d")
        for number, text in enumerate(texts):
            bag = Counter(words(text))
            word_numbers.extend(self.vocabulary.setdefault(word, len(self.vocabulary)) for word in bag)
            text_numbers.extend(number for _ in bag)
            counts.extend(bag.values())
            lengths.append(bag.total())
        self._build(np.array(word_numbers), np.array(text_numbers), np.array(counts), np.array(lengths))

    def __len__(self) -> int:
        return self.size

    def idf(self, word: str) -> float:
        """Inverse document frequency of a word among the texts."""
        number = self.vocabulary.get(word)
        return idf(self.size, 0 if number is None else int(self.first[number + 1] - self.first[number]))

    def scores(self, question: str) -> Floats:
        """BM25 score of every text: (texts,)."""
        total = np.zeros(self.size)
        for word in dict.fromkeys(words(question)):
            number = self.vocabulary.get(word)
            if number is not None:
                postings = slice(self.first[number], self.first[number + 1])
                total[self.texts[postings]] += self.weights[postings]
        return total

    def best(self, question: str, limit: int, scores: Floats | None = None) -> Ints:
        """Numbers of up to `limit` texts that share a word with the question, best first; ties in order of the texts.

        Pass the question's `scores` if they are already known.
        """
        return best_matching(self.scores(question) if scores is None else scores, limit)

    def _build(self, word_numbers: Ints, text_numbers: Ints, counts: Floats, lengths: Floats) -> None:
        self.size = len(lengths)
        frequencies = np.bincount(word_numbers.astype(np.int64), minlength=len(self.vocabulary))  # (words,)
        self.first = np.concatenate(([0], frequencies.cumsum()))  # postings of word w: first[w] to first[w + 1]
        order = np.argsort(word_numbers, kind="stable")
        self.texts = text_numbers[order].astype(np.int64)  # (postings,)
        average_length = max(lengths.sum() / max(self.size, 1), 1.0)
        idfs = np.repeat([idf(self.size, int(frequency)) for frequency in frequencies], frequencies)
        self.weights = idfs * term_weight(counts[order], lengths[self.texts], average_length)  # (postings,)
