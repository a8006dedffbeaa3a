"""Drop plans: how many candidates each exit drops. Which ones is decided by `executor.survivors`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, Literal

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.shares import share_of

Drop = float | Decimal | Sequence[float | Decimal] | Literal["fit"] | None
"""One drop ratio for all exits, one for each exit but the last, or `fit` to meet a deadline (see `fit.py`)."""


Keep = Sequence[int]
"""For each exit but the last, how many candidates survive at most."""


@dataclass(frozen=True)
class AtLeast:
    """A drop ratio that never leaves fewer than `keep` candidates, so that short lists are left alone."""

    ratio: Decimal
    keep: int


Rule = Decimal | int | AtLeast
"""The rule of one exit: a drop ratio, the number of candidates it keeps, or a ratio with a least number to keep."""


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
    if isinstance(rule, AtLeast):
        return min(share_of(rule.ratio, survivors), max(survivors - rule.keep, 0))
    return max(survivors - rule, 0) if isinstance(rule, int) else share_of(rule, survivors)


def with_least(plan: Plan, keep: int) -> Plan:
    """A plan of drop ratios whose exits never leave fewer than `keep` candidates."""
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        raise CascadaError(f"at_least is {keep!r}; it must be a whole number from 1.")
    return tuple(AtLeast(rule, keep) if isinstance(rule, Decimal) else rule for rule in plan)


def plan_dict(plan: Plan) -> dict[str, Any]:
    """A plan for JSON: {"keep": …} for keep counts, {"drop": …} for drop ratios, with "at_least" if they have any."""
    if any(isinstance(rule, int) for rule in plan):
        return {"keep": list(plan)}
    content: dict[str, Any] = {"drop": [float(ratio_of(rule)) for rule in plan]}
    least = [rule.keep for rule in plan if isinstance(rule, AtLeast)]
    return {**content, "at_least": least} if least else content


def ratio_of(rule: Rule) -> Decimal:
    """The drop ratio of a rule; 0 for a keep count."""
    return rule.ratio if isinstance(rule, AtLeast) else Decimal(0) if isinstance(rule, int) else rule


def _ratio(value: object) -> Decimal:
    number = isinstance(value, (int, float, Decimal, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not isfinite(value) or not 0 <= value < 1:  # type: ignore[arg-type, operator]
        raise CascadaError(f"drop is {value!r}; a drop ratio is a number from 0 to below 1.")
    return Decimal(str(value))
