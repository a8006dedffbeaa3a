"""trec_eval's measures, from the places of the correct candidates: many orders of one question at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cascada.metrics.measures import Measure
from cascada.ranking.stage import Ints

Values = NDArray[np.float64]


Places = Ints
"""(orders, correct): where each correct candidate stands, from 1."""


def values_of(measure: str, places: Places, gains: Ints) -> Values:
    """The measure in every order (orders,); `gains` are the correct candidates' labels."""
    if not len(gains):
        return np.zeros(len(places))
    family, _, cut_off = Measure.parse(measure).name.partition("@")
    return _CUT_OFF[family](places, gains, int(cut_off)) if cut_off else _WHOLE_LIST[family](places)


def average_precision(places: Places) -> Values:
    found = np.arange(1, places.shape[1] + 1)
    return np.asarray((found / np.sort(places, axis=1)).mean(axis=1))


def reciprocal_rank(places: Places) -> Values:
    return np.asarray(1 / places.min(axis=1))


def precision(places: Places, gains: Ints, k: int) -> Values:
    return np.asarray((places <= k).sum(axis=1) / k)


def recall(places: Places, gains: Ints, k: int) -> Values:
    return np.asarray((places <= k).mean(axis=1))


def ndcg(places: Places, gains: Ints, k: int) -> Values:
    ideal = _discounted(np.arange(1, len(gains) + 1)[None], np.sort(gains)[::-1], k)
    return _discounted(places, gains, k) / ideal


def _discounted(places: Places, gains: Ints, k: int) -> Values:
    return np.asarray(np.where(places <= k, gains / np.log2(places + 1), 0).sum(axis=1))


_WHOLE_LIST: dict[str, Callable[[Places], Values]] = {"MAP": average_precision, "MRR": reciprocal_rank}


_CUT_OFF: dict[str, Callable[[Places, Ints, int], Values]] = {"P": precision, "R": recall, "nDCG": ndcg}
