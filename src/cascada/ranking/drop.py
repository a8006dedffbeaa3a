"""How many candidates an exit removes: a share of the survivors, or all but so many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Literal

import numpy as np

from cascada.errors import CascadaError
from cascada.shares import share_of

Drop = float | Decimal | Sequence[float | Decimal] | Literal["fit"] | None
"""One ratio for every exit, one for each exit but the last, `fit` for what meets a deadline (see `fit.py`), or None."""

Keep = Sequence[int]
"""For each exit but the last, how many candidates may stay."""

Rule = Decimal | int
"""What one exit does: a drop ratio, or the number of candidates it keeps."""

Plan = tuple[Rule, ...]
"""One rule for each exit but the last."""


def plan_of(drop: Drop, keep: Keep | None, stages: int, *, otherwise: Plan | None = None) -> Plan:
    """What a call asks for; `otherwise`, or no drops, if it asks for nothing."""
    if drop is not None and keep is not None:
        raise CascadaError("drop and keep were both given; an exit goes by one of them.")
    if keep is not None:
        return keep_plan(keep, stages)
    return drop_plan(drop, stages) if drop is not None or otherwise is None else otherwise


def drop_plan(drop: Drop, stages: int) -> Plan:
    """One ratio per exit but the last; None drops nobody."""
    exits = stages - 1
    if drop is None:
        return (Decimal(0),) * exits
    if isinstance(drop, str) or not isinstance(drop, Iterable):
        return (_ratio(drop),) * exits
    plan = tuple(_ratio(ratio) for ratio in drop)
    if len(plan) != exits:
        raise CascadaError(f"drop has {len(plan)} ratios, but this ranker drops candidates at {exits} exits.")
    return plan


def keep_plan(keep: Keep, stages: int) -> Plan:
    """One number of candidates to keep per exit but the last."""
    plan = tuple(keep) if isinstance(keep, Iterable) and not isinstance(keep, Mapping) else ("",)
    if any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1 for n in plan):
        raise CascadaError(f"keep is {keep!r}; it must be a list of whole numbers from 1.")
    if len(plan) != stages - 1:
        raise CascadaError(f"keep has {len(plan)} numbers, but this ranker drops candidates at {stages - 1} exits.")
    return tuple(int(number) for number in plan)


def dropped(rule: Rule, survivors: int) -> int:
    """How many of the survivors leave: for a ratio α, floor(α·k)."""
    return max(survivors - rule, 0) if isinstance(rule, int) else share_of(rule, survivors)


def _ratio(value: object) -> Decimal:
    number = isinstance(value, (int, float, Decimal, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not isfinite(value) or not 0 <= value < 1:  # type: ignore[arg-type, operator]
        raise CascadaError(f"drop is {value!r}; a drop ratio is a number from 0 to below 1.")
    return Decimal(str(value))
