"""The settings worth having: no other one is both cheaper and better."""

from __future__ import annotations

import numpy as np

from cascada.ranking.stage import Ints
from cascada.ranking.tuning.replay import COST, Figures

# Means of equal figures may differ in the last digits; that is no reason to stand on the front.
DIGITS = 10


def front(figures: Figures, measure: str) -> Ints:
    """Places of the plans on the front, cheapest first; of plans with the same figures, the first."""
    cost = np.round(figures.columns[COST], DIGITS)
    value = np.round(figures.columns[measure], DIGITS)
    order = np.lexsort((-value, cost))  # of equal cost the best first
    best = np.maximum.accumulate(value[order])
    better = np.concatenate([[True], best[1:] > best[:-1]])
    return np.asarray(order[better])
