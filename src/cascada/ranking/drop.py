"""How many candidates an exit removes."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal

from cascada.errors import CascadaError

Drop = float | Sequence[float] | None
"""One ratio for every exit, one for each exit but the last, or None for no drop at all."""


def drop_plan(drop: Drop, stages: int) -> tuple[Decimal, ...]:
    """One ratio per exit but the last."""
    exits = stages - 1
    if drop is None:
        return (Decimal(0),) * exits
    if isinstance(drop, (int, float)):
        return (_ratio(drop),) * exits
    plan = tuple(_ratio(ratio) for ratio in drop)
    if len(plan) != exits:
        raise CascadaError(f"drop has {len(plan)} ratios, but this ranker drops candidates at {exits} exits.")
    return plan


def dropped(ratio: Decimal, survivors: int) -> int:
    """floor(α·k), with α the decimal that was written: 0.29 of 100 is 29, which binary floats would make 28."""
    return int((ratio * survivors).to_integral_value(ROUND_FLOOR))


def _ratio(value: float) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise CascadaError(f"drop is {value!r}; a drop ratio is a number from 0 to below 1.")
    return Decimal(str(value))
