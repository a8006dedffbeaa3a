"""Which setting to take: chosen on one half of the questions, checked on the other.

The best of thousands of settings on some questions is partly the luckiest one there. Its figures on questions that
had no part in the choice are not lucky, and they are what may be expected of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cascada.errors import CascadaError
from cascada.ranking.stage import Ints
from cascada.ranking.tuning.measures import Values
from cascada.ranking.tuning.replay import COST, Figures

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
