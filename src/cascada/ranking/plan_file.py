"""A tuned plan in a ranker's folder: what its exits drop when a call does not say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from cascada.errors import CascadaError
from cascada.ranking.drop import Plan, drop_plan, keep_plan

PLAN_FILE = "plan.json"
FORMAT = 1


def write_plan(folder: Path, plan: Plan, exits: tuple[int, ...], about: Mapping[str, Any]) -> Path:
    """Make the plan the folder's default; `about` says how it came about, for people."""
    from cascada.data.atomic import written

    path = folder / PLAN_FILE
    content = {"format": FORMAT, "exits": list(exits), **_rules(plan), "about": dict(about)}
    with written(path) as file:
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
