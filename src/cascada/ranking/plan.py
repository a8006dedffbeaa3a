"""Drop plans: how many candidates each exit drops. Which ones is decided by `executor.survivors`.

Most rules fix the number in advance, so that batches can be sized. A margin looks at the scores of each question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import isfinite
from typing import Any, Literal

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.shares import share_of
from cascada.ranking.stage import Floats

Drop = float | Decimal | Sequence[float | Decimal] | Literal["fit"] | None
"""One drop ratio for all exits, one for each exit but the last, or `fit` to meet a deadline (see `fit.py`)."""


Keep = Sequence[int]
"""For each exit but the last, how many candidates survive at most."""


@dataclass(frozen=True)
class AtLeast:
    """A drop ratio that never leaves fewer than `keep` candidates, so that short lists are left alone."""

    ratio: Decimal
    keep: int


@dataclass(frozen=True)
class Margin:
    """Drops the candidates that score lower than the best by more than `margin`, and leaves at least `keep`.

    A margin is a difference of raw scores; a candidate within it may still turn out to be the best. `ratio` is the
    share that is dropped in any case, even if most candidates are within the margin: it bounds a question's cost.
    """

    margin: Decimal
    keep: int = 1
    ratio: Decimal = Decimal(0)


Rule = Decimal | int | AtLeast | Margin
"""The rule of one exit: a drop ratio, with or without a least number to keep; the number it keeps; or a margin."""


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
    """How many of k survivors are dropped: floor(α·k) for a drop ratio α.

    What a margin drops depends on the scores. This is the number it drops in any case: batches are sized for the most
    survivors.
    """
    if isinstance(rule, (AtLeast, Margin)):
        return min(share_of(rule.ratio, survivors), max(survivors - rule.keep, 0))
    return max(survivors - rule, 0) if isinstance(rule, int) else share_of(rule, survivors)


def dropped_of(rule: Rule, scores: Floats) -> int:
    """How many of a question's survivors are dropped, given their scores."""
    if not isinstance(rule, Margin):
        return dropped(rule, len(scores))
    below = int((scores < scores.max() - np.float32(rule.margin)).sum())
    return min(max(below, share_of(rule.ratio, len(scores))), max(len(scores) - rule.keep, 0))


def drops_nobody(rule: Rule) -> bool:
    """Whether a rule is the drop ratio 0, with or without a least number to keep."""
    return not isinstance(rule, (int, Margin)) and ratio_of(rule) == 0


def with_least(plan: Plan, keep: int | Sequence[int]) -> Plan:
    """A plan of drop ratios or margins whose exits never leave fewer than `keep` candidates: one number for all exits,
    or one for each."""
    least = [keep] * len(plan) if isinstance(keep, int) else [*keep]
    if any(isinstance(number, bool) or not isinstance(number, int) or number < 1 for number in least):
        raise CascadaError(f"at_least is {keep!r}; it must be a whole number from 1, or one for each exit.")
    if len(least) != len(plan):
        raise CascadaError(f"at_least has {len(least)} numbers, but this ranker drops candidates at {len(plan)} exits.")
    return tuple(_with_least(rule, number) for rule, number in zip(plan, least, strict=True))


def _with_least(rule: Rule, keep: int) -> Rule:
    if isinstance(rule, Margin):
        return replace(rule, keep=keep)
    return AtLeast(rule, keep) if isinstance(rule, Decimal) else rule


def margin_plan(
    margins: Sequence[float | Decimal],
    stages: int,
    keep: Sequence[int] | None = None,
    ratios: Sequence[float | Decimal] | None = None,
) -> Plan:
    """One margin for each exit but the last, with the numbers that each exit keeps at least (by default 1) and the
    shares that it drops in any case (by default 0)."""
    least = keep_plan(keep or [1] * (stages - 1), stages)
    shares = [ratio_of(rule) for rule in drop_plan(ratios, stages)]
    if len(margins) != stages - 1:
        raise CascadaError(f"There are {len(margins)} margins, but this ranker drops candidates at {stages - 1} exits.")
    rules = zip(margins, least, shares, strict=True)
    return tuple(Margin(_margin(value), number, share) for value, number, share in rules)  # type: ignore[arg-type]


def rescaled(plan: Plan, scales: Sequence[float]) -> Plan:
    """The plan once the raw scores of each exit have been multiplied by its scale: margins are multiplied too."""
    return tuple(
        replace(rule, margin=rule.margin * Decimal(repr(float(scale)))) if isinstance(rule, Margin) else rule
        for rule, scale in zip(plan, scales, strict=True)
    )


def has_margins(plan: Plan) -> bool:
    """Whether what a plan drops depends on the scores."""
    return any(isinstance(rule, Margin) for rule in plan)


def plan_dict(plan: Plan) -> dict[str, Any]:
    """A plan for JSON: {"keep": …}, {"margin": …} or {"drop": …}, with "at_least" if its ratios or margins have any,
    and "drop" beside "margin" if a share is dropped in any case."""
    if any(isinstance(rule, int) for rule in plan):
        return {"keep": list(plan)}
    if has_margins(plan):
        content: dict[str, Any] = {"margin": [float(rule.margin) for rule in plan if isinstance(rule, Margin)]}
        if any(ratio_of(rule) for rule in plan):
            content["drop"] = [float(ratio_of(rule)) for rule in plan]
    else:
        content = {"drop": [float(ratio_of(rule)) for rule in plan]}
    least = [rule.keep for rule in plan if isinstance(rule, (AtLeast, Margin))]
    return {**content, "at_least": least} if any(number > 1 for number in least) else content


def ratio_of(rule: Rule) -> Decimal:
    """The drop ratio of a rule, with a margin the share that is dropped in any case; 0 for a keep count."""
    if isinstance(rule, int):
        return Decimal(0)
    return rule.ratio if isinstance(rule, (AtLeast, Margin)) else rule


def _margin(value: float | Decimal) -> Decimal:
    number = isinstance(value, (int, float, Decimal, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not isfinite(value) or value < 0:
        raise CascadaError(f"A margin is {value!r}; it must be a number from 0.")
    return Decimal(str(value))


def _ratio(value: object) -> Decimal:
    number = isinstance(value, (int, float, Decimal, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not isfinite(value) or not 0 <= value < 1:  # type: ignore[arg-type, operator]
        raise CascadaError(f"drop is {value!r}; a drop ratio is a number from 0 to below 1.")
    return Decimal(str(value))
