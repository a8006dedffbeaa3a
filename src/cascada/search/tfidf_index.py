"""An inverted index of TF-IDF over words and pairs of adjacent words, in memory, for some hundred thousand texts.

It scores every text of the collection from the postings of the question's terms, with the weights of `TfIdf`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from math import log1p

import numpy as np
from numpy.typing import NDArray

from cascada.search.tfidf import STOP_WORDS, Term, inverse_frequency, terms
from cascada.text.bm25 import best_matching
from cascada.text.words import words

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BOUNDARY = 0
"""The number of every stop word and of the end of a text: no pair of words has one of these in it."""
SHIFT = 32


class TfIdfIndex:
    """Scores all texts against a question; a term weighs log(1 + count) · IDF in either.

    A term is one number: a word's own, or both of a pair of words next to each other. So pairs need no strings in
    memory, of which a hundred thousand passages have some ten million.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.vocabulary: dict[str, int] = dict.fromkeys(STOP_WORDS, BOUNDARY)
        numbers, lengths = array("I"), array("q")
        for text in texts:
            before = len(numbers)
            numbers.extend(self._number(word) for word in words(text))
            numbers.append(BOUNDARY)
            lengths.append(len(numbers) - before)
        self.size = len(lengths)
        self._build(np.array(numbers, np.int64), np.repeat(np.arange(self.size), np.array(lengths, np.int64)))

    def scores(self, question: str) -> Floats:
        """TF-IDF score of every text: (texts,)."""
        total = np.zeros(self.size)
        for term, count in Counter(terms(question)).items():
            place = self._place(term)
            if place is None:
                continue
            postings = slice(self.first[place], self.first[place + 1])
            idf = inverse_frequency(self.size, int(self.first[place + 1] - self.first[place]))
            total[self.texts[postings]] += log1p(count) * idf**2 * self.weights[postings]
        return total

    def best(self, question: str, limit: int, scores: Floats | None = None) -> Ints:
        """Numbers of up to `limit` texts that score above 0, best first; ties in order of the texts.

        Pass the question's `scores` if they are already known.
        """
        return best_matching(self.scores(question) if scores is None else scores, limit)

    def _number(self, word: str) -> int:
        return self.vocabulary.setdefault(word, len(self.vocabulary) + 1)

    def _build(self, numbers: Ints, owner: Ints) -> None:
        """Sort the terms of all texts into postings: by term, then by text."""
        single = np.flatnonzero(numbers)
        pair = single[:-1][(np.diff(single) == 1)]
        keys = np.concatenate((numbers[single], numbers[pair] << SHIFT | numbers[pair + 1]))
        texts = np.concatenate((owner[single], owner[pair]))
        order = np.lexsort((texts, keys))
        keys, texts = keys[order], texts[order]
        new = np.flatnonzero(np.concatenate(([True], (np.diff(keys) != 0) | (np.diff(texts) != 0)))[: len(keys)])
        self.texts = texts[new].astype(np.int32)  # (postings,)
        self.weights = np.log1p(np.diff(np.append(new, len(keys)))).astype(np.float32)
        self.keys, first = np.unique(keys[new], return_index=True)
        self.first = np.append(first, len(new))  # postings of term t: first[t] to first[t + 1]

    def _place(self, term: Term) -> int | None:
        known = [self.vocabulary.get(word, BOUNDARY) for word in term]
        if BOUNDARY in known:
            return None
        key = known[0] if len(known) == 1 else known[0] << SHIFT | known[1]
        place = int(np.searchsorted(self.keys, key))
        return place if place < len(self.keys) and self.keys[place] == key else None
