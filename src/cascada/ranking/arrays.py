"""Array helpers that the stages share: batches within a token budget, and the sigmoid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cascada.ranking.stage import Floats, Ints


def by_token_budget(lengths: Ints, order: Ints, budget: int) -> Iterator[Ints]:
    """Cut `order` into batches whose padded size (rows × longest) is within `budget`.

    A pair that is longer than the budget is a batch by itself.
    """
    start, longest = 0, 0
    for stop, length in enumerate(lengths[order].tolist()):
        if stop > start and max(longest, length) * (stop + 1 - start) > budget:
            yield order[start:stop]
            start, longest = stop, 0
        longest = max(longest, length)
    if start < len(order):
        yield order[start:]


def shortest_first(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Batch texts of similar length, the shortest first, to keep padding small."""
    return by_token_budget(lengths, np.argsort(lengths, kind="stable"), budget)


def sigmoid(scores: Floats) -> Floats:
    """The logistic function, without overflow for scores of large magnitude."""
    small = np.exp(-np.abs(scores))
    return np.where(scores >= 0, 1 / (1 + small), small / (1 + small)).astype(np.float32)
