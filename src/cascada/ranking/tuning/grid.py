"""Which settings to look at: every combination of some drop ratios at the exits but the last."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import product

from cascada.errors import CascadaError
from cascada.ranking.drop import Plan, drop_plan

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
