"""Which settings to try, which of them are on the front of cost against quality, and which one to take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Plan, drop_plan
from cascada.ranking.stage import Ints
from cascada.ranking.tuning.measures import Values
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


PAPER = tuple(Decimal(tenths) / 10 for tenths in range(1, 7))
"""Section 5.5 of the Cascade Transformer: 0.1 … 0.6."""


DEFAULTS = tuple(
    tuple(Decimal(tenths) / 10 for tenths in grid) for grid in ((0, 1, 2, 3, 4, 5, 6), (0, 2, 4, 6), (0, 3, 6), (0, 5))
)
"""From fine to coarse, for more and more exits. A ratio of 0 is an exit that is not used."""


MOST = 20_000
"""Settings beyond this take minutes, and no more is learned from them."""


def default_grid(exits: int) -> list[Plan]:
    """0 and 0.1 … 0.6 at every exit but the last, or the finest coarser grid that is not too large."""
    fitting = (ratios for ratios in DEFAULTS if len(ratios) ** (exits - 1) <= MOST)
    return grid_of(next(fitting, DEFAULTS[-1]), exits)


def grid_of(ratios: Sequence[float | Decimal], exits: int) -> list[Plan]:
    """Every combination of the ratios, the first exit's changing slowest."""
    values = list(dict.fromkeys(drop_plan(ratio, 2)[0] for ratio in ratios))
    count = len(values) ** (exits - 1)
    if count > MOST:
        raise CascadaError(
            f"{len(values)} ratios at {exits - 1} exits are {count:,} settings, more than {MOST:,}: "
            "try fewer ratios (--ratios 0,0.5), or give the model fewer exits."
        )
    return list(product(values, repeat=exits - 1))


LOSS = 0.01
"""What may be lost if nobody says otherwise: 1 % of the full model's measure."""


MARGIN = 1.64
"""Standard errors that a loss must have to spare: by chance alone one setting in twenty would look that much better."""


SLACK = 1e-9  # a setting is not refused for a rounding error


@dataclass(frozen=True)
class Wish:
    """What the setting shall be; `choose` finds it among figures, given those of the full model."""

    words: str
    choose: Callable[[Figures, Figures], int]


def within_budget(budget: float, measure: str) -> Wish:
    """The best that costs at most `budget` of the full model; of equally good ones the cheapest."""

    def choose(figures: Figures, full: Figures) -> int:
        cost, value = figures.columns[COST], figures.columns[measure]
        allowed = np.flatnonzero(cost <= budget + SLACK)
        if not len(allowed):
            raise CascadaError(
                f"No setting costs at most {budget:g}: the cheapest of this grid costs {cost.min():.3f}. "
                "Allow more, or try larger ratios (--ratios)."
            )
        return _first(allowed, -value[allowed], cost[allowed])

    return Wish(f"the best {measure} at a relative cost of at most {budget:g}", choose)


def within_loss(loss: float, measure: str, margin: float = MARGIN) -> Wish:
    """The cheapest that loses at most this share of the full model's measure; of equally cheap ones the best.

    Its loss on these questions plus `margin` standard errors has to be within that share.
    """

    def choose(figures: Figures, full: Figures) -> int:
        cost = figures.columns[COST]
        aim = float(full.columns[measure][0])
        value = figures.columns[measure] - margin * figures.error(measure, aim)
        allowed = np.flatnonzero(value >= (1 - loss) * aim - SLACK)
        if not len(allowed):
            raise CascadaError(
                f"No setting of this grid has {measure} within {100 * loss:.4g} % of the full model's {aim:.4f}: "
                f"the best has {value.max():.4f}. Allow more, or try smaller ratios (--ratios)."
            )
        return _first(allowed, cost[allowed], -value[allowed])

    spare = f", with {margin:g} standard errors to spare" if margin else ""
    return Wish(f"the cheapest that loses at most {100 * loss:.4g} % of the full model's {measure}{spare}", choose)


def _first(allowed: Ints, main: Values, then: Values) -> int:
    return int(allowed[np.lexsort((np.round(then, 10), np.round(main, 10)))[0]])
