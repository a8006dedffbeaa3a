"""trec_eval's measures, vectorised over many orders of one question, from the ranks of the correct candidates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cascada.metrics.measures import Measure
from cascada.ranking.stage import Ints

Values = NDArray[np.float64]


Ranks = Ints
"""(orders, correct): the rank of each correct candidate, from 1."""


def values_of(measure: str, ranks: Ranks, gains: Ints) -> Values:
    """The measure in every order, (orders,); `gains` are the labels of the correct candidates."""
    if not len(gains):
        return np.zeros(len(ranks))
    family, _, cut_off = Measure.parse(measure).name.partition("@")
    return _CUT_OFF[family](ranks, gains, int(cut_off)) if cut_off else _WHOLE_LIST[family](ranks)


def average_precision(ranks: Ranks) -> Values:
    correct_so_far = np.arange(1, ranks.shape[1] + 1)
    return np.asarray((correct_so_far / np.sort(ranks, axis=1)).mean(axis=1))


def reciprocal_rank(ranks: Ranks) -> Values:
    return np.asarray(1 / ranks.min(axis=1))


def precision(ranks: Ranks, gains: Ints, k: int) -> Values:
    return np.asarray((ranks <= k).sum(axis=1) / k)


def recall(ranks: Ranks, gains: Ints, k: int) -> Values:
    return np.asarray((ranks <= k).mean(axis=1))


def ndcg(ranks: Ranks, gains: Ints, k: int) -> Values:
    ideal = _discounted(np.arange(1, len(gains) + 1)[None], np.sort(gains)[::-1], k)
    return _discounted(ranks, gains, k) / ideal


def _discounted(ranks: Ranks, gains: Ints, k: int) -> Values:
    return np.asarray(np.where(ranks <= k, gains / np.log2(ranks + 1), 0).sum(axis=1))


_WHOLE_LIST: dict[str, Callable[[Ranks], Values]] = {"MAP": average_precision, "MRR": reciprocal_rank}


_CUT_OFF: dict[str, Callable[[Ranks, Ints, int], Values]] = {"P": precision, "R": recall, "nDCG": ndcg}
