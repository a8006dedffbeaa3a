"""Where one article ends and the next begins, in lines whose articles are only listed.

Some releases give the lines of their articles one after the other, and beside them no more than a list of the titles
in the same order. The places where the topic changes are then the ones that make every article most coherent in its
own words: each article is a bag of words with a Dirichlet prior, and dynamic programming finds the division of the
highest likelihood. Words of a title speak for its article.
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
"""Lines of the longest article, at least: it grows with the mean length."""


PRIOR = 0.1


COMMON = 1.5
"""A word in more lines than this many articles of mean length speaks for none of them."""


Floats = NDArray[np.float64]


def recover(lines: Sequence[str], titles: Sequence[str]) -> list[str]:
    """The title of each line's article. `titles` stand in the order of their articles; each has a line at least.

    recover(["steam is hot", "engines use steam", "the rhine is long", "it flows north"], ["Steam", "Rhine"])
    """
    if not titles or len(titles) > len(lines):
        raise DataError(f"{len(lines)} lines cannot come from {len(titles)} articles: each has at least one.")
    bags = [set(words(_plain(line))) for line in lines]
    starts = _division(_numbered(bags, len(titles)), _title_scores(bags, titles))
    lengths = np.diff([*starts, len(lines)])
    return [title for title, length in zip(titles, lengths, strict=True) for _ in range(length)]


def _division(bags: list[NDArray[np.int64]], titles: Floats) -> list[int]:
    """The first line of each article. `best[k, j]`: the likelihood of the first j lines as k articles."""
    articles, lines = len(titles), len(bags)
    longest = min(lines, max(LONGEST, 4 * lines // articles))
    best = np.full((articles + 1, lines + 1), -np.inf)
    best[0, 0] = 0.0
    origin = np.zeros((articles + 1, lines + 1), np.int64)
    coherence = _Coherence(bags, longest)
    for end in range(1, lines + 1):
        starts, scores = coherence.ending(end)
        of_title = titles[:, end, None] - titles[:, starts]  # (articles, starts)
        total = best[:-1, starts] + scores + of_title
        chosen = total.argmax(axis=1)
        best[1:, end] = total[np.arange(articles), chosen]
        origin[1:, end] = starts[chosen]
    return _traced(origin)


class _Coherence:
    """Log-likelihood of the lines from each possible start up to here, grown line by line.

    A start s lives in column s mod `longest`: when a column is needed again, its article would be too long anyway.
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
        """Starts from which an article can reach to `end`, and the likelihood of each. To be called for 1, 2, 3, …"""
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
    """Words as numbers, without those that say nothing: in one line only, or in very many."""
    having = Counter(word for bag in bags for word in bag)
    most = max(2.0, COMMON * len(bags) / articles)
    numbers = {word: number for number, word in enumerate(sorted(w for w, n in having.items() if 2 <= n <= most))}
    return [np.array(sorted(numbers[word] for word in bag if word in numbers), np.int64) for bag in bags]


def _title_scores(bags: list[set[str]], titles: Sequence[str]) -> Floats:
    """How much the lines before each place speak for each title: (articles, lines + 1), summed up from the left."""
    having = Counter(word for bag in bags for word in bag)
    scores = np.zeros((len(titles), len(bags) + 1))
    for row, title in enumerate(titles):
        rarity = {w: log(len(bags) / having[w]) for w in words(_plain(unquote(title).replace("_", " "))) if having[w]}
        scores[row, 1:] = np.cumsum([sum(rarity[word] for word in rarity if word in bag) for bag in bags])
    return scores


def _traced(origin: NDArray[np.int64]) -> list[int]:
    starts: list[int] = []
    end = origin.shape[1] - 1
    for article in range(origin.shape[0] - 1, 0, -1):
        end = int(origin[article, end])
        starts.append(end)
    return starts[::-1]


def _plain(text: str) -> str:
    """Without accents: lists of titles often have lost theirs, or the lines have."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
