"""Which plans to try, which of them are on the Pareto front of cost and quality, and which one to choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Plan, drop_plan
from cascada.ranking.stage import Ints
from cascada.ranking.tuning.replay import COST, Figures
from cascada.ranking.tuning.vectorised_measures import Values

DIGITS = 10
"""Digits that are compared: means of equal figures may differ in later ones."""

PAPER = tuple(Decimal(tenths) / 10 for tenths in range(1, 7))
"""The drop ratios of Section 5.5 of the Cascade Transformer paper: 0.1 … 0.6."""

DEFAULTS = tuple(
    tuple(Decimal(tenths) / 10 for tenths in grid) for grid in ((0, 1, 2, 3, 4, 5, 6), (0, 2, 4, 6), (0, 3, 6), (0, 5))
)
"""Drop ratios from fine to coarse, for increasing numbers of exits. With a ratio of 0 the exit is not used."""

FREE = tuple(Decimal(tenths) / 10 for tenths in (0, 3, 5, 6, 7, 8, 9))
"""Drop ratios of exit 0 and of BM25 in the default grid. They run no layer, and can drop most of a long list."""

MOST = 20_000
"""The largest grid. More settings take minutes and improve little."""

LOSS = 0.01
"""The default loss: 1 % of the full model's measure."""

MARGIN = 1.64
"""Standard errors added to a loss: by chance alone, one setting in twenty would look that much better."""

SLACK = 1e-9
"""Tolerance, so that a setting is not rejected because of a rounding error."""


def front(figures: Figures, measure: str) -> Ints:
    """Indices of the plans on the Pareto front, cheapest first; of plans with equal figures, only the first."""
    cost = np.round(figures.columns[COST], DIGITS)
    value = np.round(figures.columns[measure], DIGITS)
    order = np.lexsort((-value, cost))  # among equal costs the best first
    best = np.maximum.accumulate(value[order])
    better = np.concatenate([[True], best[1:] > best[:-1]])
    return np.asarray(order[better])


def default_grid(exits: int, *, free: int = 0) -> list[Plan]:
    """All plans with ratios 0, 0.1 … 0.6 at every exit but the last, or a coarser grid if that is too large.

    The first `free` exits run no layer, as exit 0 does, and are tried with ratios up to 0.9.
    """
    free = min(free, exits - 1)
    rest = exits - free
    first = list(product(FREE, repeat=free))
    fitting = (ratios for ratios in DEFAULTS if len(first) * len(ratios) ** (rest - 1) <= MOST)
    plans = grid_of(next(fitting, DEFAULTS[-1]), rest)
    return [(*ratios, *plan) for ratios in first for plan in plans]


def grid_of(ratios: Sequence[float | Decimal], exits: int) -> list[Plan]:
    """All combinations of the ratios at every exit but the last; the first exit's ratio varies slowest."""
    values = list(dict.fromkeys(drop_plan(ratio, 2)[0] for ratio in ratios))
    if not values:
        raise CascadaError("The grid is empty: give at least one drop ratio to try.")
    count = len(values) ** (exits - 1)
    if count > MOST:
        raise CascadaError(
            f"{len(values)} ratios at {exits - 1} exits are {count:,} settings, more than {MOST:,}: "
            "try fewer ratios (--ratios 0,0.5), or give the model fewer exits."
        )
    return list(product(values, repeat=exits - 1))


@dataclass(frozen=True)
class Criterion:
    """How a setting is chosen: `choose` returns its index, given the figures of all settings and of the full model."""

    description: str
    choose: Callable[[Figures, Figures], int]


def within_budget(budget: float, measure: str) -> Criterion:
    """The best setting that costs at most `budget`, relative to the full model; among equals the cheapest."""

    def choose(figures: Figures, full: Figures) -> int:
        cost, value = figures.columns[COST], figures.columns[measure]
        allowed = np.flatnonzero(cost <= budget + SLACK)
        if not len(allowed):
            raise CascadaError(
                f"No setting costs at most {budget:g}: the cheapest of this grid costs {cost.min():.3f}. "
                "Allow more, or try larger ratios (--ratios)."
            )
        return _first(allowed, -value[allowed], cost[allowed])

    return Criterion(f"the best {measure} at a relative cost of at most {budget:g}", choose)


def within_loss(loss: float, measure: str, margin: float = MARGIN) -> Criterion:
    """The cheapest setting that loses at most this share of the full model's measure; among equals the best.

    The loss on these questions plus `margin` standard errors has to be within that share.
    """

    def choose(figures: Figures, full: Figures) -> int:
        cost = figures.columns[COST]
        target = float(full.columns[measure][0])
        value = figures.columns[measure] - margin * figures.standard_error(measure, target)
        allowed = np.flatnonzero(value >= (1 - loss) * target - SLACK)
        if not len(allowed):
            raise CascadaError(
                f"No setting of this grid has {measure} within {100 * loss:.4g} % of the full model's {target:.4f}: "
                f"the best has {value.max():.4f}. Allow more, or try smaller ratios (--ratios)."
            )
        return _first(allowed, cost[allowed], -value[allowed])

    spare = f", with a margin of {margin:g} standard errors" if margin else ""
    return Criterion(f"the cheapest that loses at most {100 * loss:.4g} % of the full model's {measure}{spare}", choose)


def _first(allowed: Ints, main: Values, then: Values) -> int:
    return int(allowed[np.lexsort((np.round(then, DIGITS), np.round(main, DIGITS)))[0]])
