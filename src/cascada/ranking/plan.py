"""Drop plans: how many candidates each exit drops, and the plan that is saved with a ranker.

Which candidates are dropped is decided by `executor.survivors`.
"""

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
"""One drop ratio for all exits, one for each exit but the last, or `fit` to meet a deadline (see `fit.py`)."""

Keep = Sequence[int]
"""For each exit but the last, how many candidates survive at most."""

Rule = Decimal | int
"""The rule of one exit: a drop ratio, or the number of candidates it keeps."""

Plan = tuple[Rule, ...]
"""One rule for each exit but the last."""

FORMAT = 1
"""The version of the plan file."""


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


def write_plan(folder: Path, plan: Plan, exits: tuple[int, ...], about: Mapping[str, Any]) -> Path:
    """Save the plan as the default of the ranker in `folder`; `about` records for people how it was chosen."""
    path = folder / PLAN_FILE
    content = {"format": FORMAT, "exits": list(exits), **_rules(plan), "about": dict(about)}
    with atomic_write(path) as file:
        json.dump(content, file, indent=2, ensure_ascii=False)
        file.write("\n")
    return path


def read_plan(folder: Path, exits: tuple[int, ...]) -> Plan | None:
    """The plan saved in `folder` for a ranker with these exits, or None."""
    path = folder / PLAN_FILE
    if not path.is_file():
        return None
    remedy = f"remove it with `cascada tune {folder} --forget`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version, plan_exits = content["format"], tuple(content["exits"])
        plan = _plan(content, len(plan_exits))
    except (OSError, ValueError, KeyError, TypeError, InvalidOperation) as error:  # a CascadaError is a ValueError
        raise CascadaError(f"{path} is damaged ({' '.join(str(error).split())}): {remedy}.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}: {remedy}.")
    if plan_exits != exits:
        raise CascadaError(
            f"{path} is for exits {_listed(plan_exits)}, but the ranker's are {_listed(exits)}: {remedy}."
        )
    return plan


def forget_plan(folder: Path) -> bool:
    """Remove the saved plan. Returns whether there was one."""
    existed = (folder / PLAN_FILE).is_file()
    (folder / PLAN_FILE).unlink(missing_ok=True)
    return existed


def _rules(plan: Plan) -> dict[str, Any]:
    """The plan for JSON: drop ratios as decimal strings, or keep counts."""
    if all(isinstance(rule, int) for rule in plan):
        return {"keep": list(plan)}
    if any(isinstance(rule, int) for rule in plan):
        raise CascadaError("A saved plan has drop ratios or keep counts, not both.")
    return {"drop": [str(rule) for rule in plan]}


def _plan(content: Mapping[str, Any], stages: int) -> Plan:
    if "keep" in content:
        return keep_plan(content["keep"], stages)
    return drop_plan(
        [Decimal(str(ratio)) for ratio in content["drop"]], stages
    )  # a ratio edited by hand may be a number


def _listed(exits: tuple[int, ...]) -> str:
    return ", ".join(map(str, exits))
