"""Drop plans: how many candidates each exit removes, and the plan that is saved with a ranker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.core.folder import PLAN_FILE
from cascada.core.shares import share_of

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


FORMAT = 1


def write_plan(folder: Path, plan: Plan, exits: tuple[int, ...], about: Mapping[str, Any]) -> Path:
    """Make the plan the folder's default; `about` says how it came about, for people."""
    path = folder / PLAN_FILE
    content = {"format": FORMAT, "exits": list(exits), **_rules(plan), "about": dict(about)}
    with atomic_write(path) as file:
        json.dump(content, file, indent=2, ensure_ascii=False)
        file.write("\n")
    return path


def read_plan(folder: Path, exits: tuple[int, ...]) -> Plan | None:
    """The folder's plan for a ranker with these exits; None if it has none."""
    path = folder / PLAN_FILE
    if not path.is_file():
        return None
    way_out = f"remove it with `cascada tune {folder} --forget`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version, made_for = content["format"], tuple(content["exits"])
        plan = _plan(content, len(made_for))
    except (OSError, ValueError, KeyError, TypeError, InvalidOperation) as error:  # a CascadaError is a ValueError
        raise CascadaError(f"{path} is damaged ({' '.join(str(error).split())}): {way_out}.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}: {way_out}.")
    if made_for != exits:
        raise CascadaError(
            f"{path} is for exits {_listed(made_for)}, but the ranker's are {_listed(exits)}: {way_out}."
        )
    return plan


def forget_plan(folder: Path) -> bool:
    """Remove the plan; whether there was one."""
    there = (folder / PLAN_FILE).is_file()
    (folder / PLAN_FILE).unlink(missing_ok=True)
    return there


def _rules(plan: Plan) -> dict[str, Any]:
    """Ratios as the decimals that were written, or the numbers to keep."""
    if all(isinstance(rule, int) for rule in plan):
        return {"keep": list(plan)}
    if any(isinstance(rule, int) for rule in plan):
        raise CascadaError("A saved plan has drop ratios or keep counts, not both.")
    return {"drop": [str(rule) for rule in plan]}


def _plan(content: Mapping[str, Any], stages: int) -> Plan:
    if "keep" in content:
        return keep_plan(content["keep"], stages)
    return drop_plan([Decimal(str(ratio)) for ratio in content["drop"]], stages)  # 0.29 may be edited in as a number


def _listed(exits: tuple[int, ...]) -> str:
    return ", ".join(map(str, exits))
