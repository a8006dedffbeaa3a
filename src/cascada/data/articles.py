"""Recover article boundaries from the lines of several articles and the list of their titles.

Some releases have the lines of their articles in sequence, and only a list of the titles in the same order. The
boundaries are found by maximum likelihood: each article is a bag of words with a Dirichlet prior, the words of its
title count as evidence for it, and dynamic programming finds the most likely division.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from math import log
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import DataError
from cascada.text.words import words

LONGEST = 1000
"""Lower bound, in lines, of the longest article considered; the bound grows with the mean length."""

PRIOR = 0.1
"""Pseudo-count of every word in every article."""

COMMON = 1.5
"""A word that is in more lines than this many articles of mean length have is ignored."""

Floats = NDArray[np.float64]


def recover_articles(lines: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Title of each line's article. `titles` are in the order of their articles, each of which has at least one line.

    >>> recover_articles(["steam is hot", "engines use steam", "a long river", "the rhine flows"], ["Steam", "Rhine"])
    ['Steam', 'Steam', 'Rhine', 'Rhine']
    """
    if not titles or len(titles) > len(lines):
        raise DataError(f"{len(lines)} lines cannot come from {len(titles)} articles: each has at least one.")
    bags = [set(words(_plain(line))) for line in lines]
    starts = _division(_numbered(bags, len(titles)), _title_scores(bags, titles))
    lengths = np.diff([*starts, len(lines)])
    return [title for title, length in zip(titles, lengths, strict=True) for _ in range(length)]


def _division(bags: list[NDArray[np.int64]], titles: Floats) -> list[int]:
    """First line of each article. `best[k, j]` is the log-likelihood of the first j lines as k articles."""
    articles, lines = len(titles), len(bags)
    longest = min(lines, max(LONGEST, 4 * lines // articles))
    best = np.full((articles + 1, lines + 1), -np.inf)
    best[0, 0] = 0.0
    origin = np.zeros((articles + 1, lines + 1), np.int64)
    coherence = _Coherence(bags, longest)
    for end in range(1, lines + 1):
        starts, scores = coherence.ending(end)
        title_scores = titles[:, end, None] - titles[:, starts]  # (articles, starts)
        total = best[:-1, starts] + scores + title_scores
        chosen = total.argmax(axis=1)
        best[1:, end] = total[np.arange(articles), chosen]
        origin[1:, end] = starts[chosen]
    return _traced(origin)


class _Coherence:
    """Log-likelihood of an article from each possible start to the current line, updated line by line.

    Start s is in column s mod `longest`: when the column is needed again, an article from s would be too long.
    """

    def __init__(self, bags: list[NDArray[np.int64]], longest: int) -> None:
        self.bags = bags
        self.longest = longest
        vocabulary = 1 + max((int(bag.max()) for bag in bags if len(bag)), default=0)
        self.counts = np.zeros((vocabulary, longest), np.int16)
        self.sizes = np.zeros(longest, np.int64)
        self.scores = np.zeros(longest)
        self.log_count = np.log(np.arange(longest + 1) + PRIOR)
        most = 1 + sum(map(len, bags))
        self.log_total = np.concatenate(([0.0], np.log(np.arange(most) + PRIOR * vocabulary).cumsum()))

    def ending(self, end: int) -> tuple[NDArray[np.int64], Floats]:
        """Possible starts of an article that ends at `end`, and its log-likelihood from each. Call it for 1, 2, 3, …"""
        bag, column = self.bags[end - 1], (end - 1) % self.longest
        self.counts[:, column] = 0
        self.sizes[column] = 0
        self.scores[column] = 0.0
        counts = self.counts[bag]  # (words of the line, starts)
        self.scores += self.log_count[counts].sum(axis=0)
        self.counts[bag] = counts + 1
        self.sizes += len(bag)
        starts = np.arange(max(0, end - self.longest), end)
        columns = starts % self.longest
        return starts, self.scores[columns] - self.log_total[self.sizes[columns]]


def _numbered(bags: list[set[str]], articles: int) -> list[NDArray[np.int64]]:
    """Words as numbers, without those that carry no evidence: in one line only, or in very many."""
    frequencies = Counter(word for bag in bags for word in bag)
    most = max(2.0, COMMON * len(bags) / articles)
    kept = sorted(word for word, frequency in frequencies.items() if 2 <= frequency <= most)
    numbers = {word: number for number, word in enumerate(kept)}
    return [np.array(sorted(numbers[word] for word in bag if word in numbers), np.int64) for bag in bags]


def _title_scores(bags: list[set[str]], titles: Sequence[str]) -> Floats:
    """(articles, lines + 1): for each title, the IDF of its words in the lines before each position, summed."""
    frequencies = Counter(word for bag in bags for word in bag)
    scores = np.zeros((len(titles), len(bags) + 1))
    for row, title in enumerate(titles):
        title_words = words(_plain(unquote(title).replace("_", " ")))
        idf = {word: log(len(bags) / frequencies[word]) for word in title_words if frequencies[word]}
        scores[row, 1:] = np.cumsum([sum(idf[word] for word in idf if word in bag) for bag in bags])
    return scores


def _traced(origin: NDArray[np.int64]) -> list[int]:
    starts: list[int] = []
    end = origin.shape[1] - 1
    for article in range(origin.shape[0] - 1, 0, -1):
        end = int(origin[article, end])
        starts.append(end)
    return starts[::-1]


def _plain(text: str) -> str:
    """The text without accents, which either the titles or the lines have often lost."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))
