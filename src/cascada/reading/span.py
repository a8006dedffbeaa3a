"""The answer span, and the search for the best span among the scores of all tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST = 30
"""The longest answer, in tokens."""
LIKELY = 0.5
"""The score from which a span counts as an answer."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Span:
    """A short answer: characters `start` up to `end` of the text."""

    text: str
    start: int
    end: int
    score: float
    """In [0, 1]: the probability of this span against "no answer in this text"."""
    document: int
    """The number of the text, from 0."""

    @property
    def likely(self) -> bool:
        """Whether the reader takes the span for an answer."""
        return self.score >= LIKELY


def best_span(starts: Floats, ends: Floats, *, longest: int = LONGEST) -> tuple[float, int, int]:
    """The best span's score, first and last token, given the start and end scores (tokens,) of all tokens.

    >>> best_span(np.array([0, 3, 1], np.float32), np.array([5, 0, 2], np.float32))
    (5.0, 0, 0)
    """
    best = (-np.inf, 0, 0)
    for more in range(min(longest, len(starts))):
        together = starts[: len(starts) - more] + ends[more:]
        place = int(together.argmax())
        if together[place] > best[0]:
            best = (float(together[place]), place, place + more)
    return best
