"""Drop plans: how many candidates each exit drops. Which ones is decided by `executor.survivors`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Literal

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.shares import share_of

Drop = float | Decimal | Sequence[float | Decimal] | Literal["fit"] | None
"""One drop ratio for all exits, one for each exit but the last, or `fit` to meet a deadline (see `fit.py`)."""


Keep = Sequence[int]
"""For each exit but the last, how many candidates survive at most."""


Rule = Decimal | int
"""The rule of one exit: a drop ratio, or the number of candidates it keeps."""


Plan = tuple[Rule, ...]
"""One rule for each exit but the last."""


def plan_of(drop: Drop, keep: Keep | None, stages: int, *, otherwise: Plan | None = None) -> Plan:
    """The plan for a ranker with this many stages. Without drop and keep: `otherwise`, or a plan without drops."""
    if drop is not None and keep is not None:
        raise CascadaError("drop and keep were both given; give one of them.")
    if keep is not None:
        return keep_plan(keep, stages)
    return drop_plan(drop, stages) if drop is not None or otherwise is None else otherwise


def drop_plan(drop: Drop, stages: int) -> Plan:
    """One drop ratio for each exit but the last; None drops no candidates."""
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
    """One keep count for each exit but the last."""
    plan = tuple(keep) if isinstance(keep, Iterable) and not isinstance(keep, Mapping) else ("",)
    if any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1 for n in plan):
        raise CascadaError(f"keep is {keep!r}; it must be a list of whole numbers from 1.")
    if len(plan) != stages - 1:
        raise CascadaError(f"keep has {len(plan)} numbers, but this ranker drops candidates at {stages - 1} exits.")
    return tuple(int(number) for number in plan)


def dropped(rule: Rule, survivors: int) -> int:
    """How many of k survivors are dropped: floor(α·k) for a drop ratio α."""
    return max(survivors - rule, 0) if isinstance(rule, int) else share_of(rule, survivors)


def _ratio(value: object) -> Decimal:
    number = isinstance(value, (int, float, Decimal, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not isfinite(value) or not 0 <= value < 1:  # type: ignore[arg-type, operator]
        raise CascadaError(f"drop is {value!r}; a drop ratio is a number from 0 to below 1.")
    return Decimal(str(value))
