"""Which candidates of a ranking are returned, and whether any of them answers the question."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cascada.ranking.stage import Floats, Ints

LIKELY = 0.5
"""A trained ranker's best candidate is probably no answer if its score is below this."""

FALL = 0.1
"""A difference of neighbouring scores below this is no gap."""

Cut = Literal["gap"]


def selected(scores: Floats, *, top: int | None, min_score: float | None, cut: Cut | None) -> Ints:
    """The positions that are returned, given the scores in the order of the ranking."""
    keep = np.arange(len(scores))
    if cut == "gap":
        keep = keep[: before_gap(scores)]
    if min_score is not None:
        keep = keep[scores[keep] >= min_score]
    return keep[:top]


def before_gap(scores: Floats) -> int:
    """How many candidates come before the widest gap in the scores; all of them if they fall nowhere by `FALL`.

    A candidate that was dropped early may have a higher score than a survivor before it; that is no fall.
    """
    falls = -np.diff(np.minimum.accumulate(scores))
    return int(falls.argmax()) + 1 if len(falls) and falls.max() >= FALL else len(scores)


def is_likely(best: float, min_score: float | None) -> bool:
    """Whether the best score is that of an answer: at least `min_score`, or `LIKELY` without one."""
    return best >= (LIKELY if min_score is None else min_score)
