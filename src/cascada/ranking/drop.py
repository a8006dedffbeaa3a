"""How many candidates an exit removes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal
from math import isfinite

import numpy as np

from cascada.errors import CascadaError

Drop = float | Decimal | Sequence[float | Decimal] | None
"""One ratio for every exit, one for each exit but the last, or None for no drop at all."""


def drop_plan(drop: Drop, stages: int) -> tuple[Decimal, ...]:
    """One ratio per exit but the last."""
    exits = stages - 1
    if drop is None:
        return (Decimal(0),) * exits
    if isinstance(drop, str) or not isinstance(drop, Iterable):
        return (_ratio(drop),) * exits
    plan = tuple(_ratio(ratio) for ratio in drop)
    if len(plan) != exits:
        raise CascadaError(f"drop has {len(plan)} ratios, but this ranker drops candidates at {exits} exits.")
    return plan


def dropped(ratio: Decimal, survivors: int) -> int:
    """floor(α·k), with α the decimal that was written: 0.29 of 100 is 29, which binary floats would make 28."""
    return int((ratio * survivors).to_integral_value(ROUND_FLOOR))


def _ratio(value: float | Decimal) -> Decimal:
    number = isinstance(value, (int, float, Decimal, np.floating)) and not isinstance(value, bool)
    if not number or not isfinite(value) or not 0 <= value < 1:
        raise CascadaError(f"drop is {value!r}; a drop ratio is a number from 0 to below 1.")
    return Decimal(str(value))
