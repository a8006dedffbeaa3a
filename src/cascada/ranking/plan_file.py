"""The drop plan that is saved in a ranker's folder: what its exits drop if a call does not say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError, described
from cascada.core.files import atomic_write
from cascada.core.folder import PLAN_FILE
from cascada.ranking.plan import (
    AtLeast,
    Margin,
    Plan,
    drop_plan,
    has_margins,
    keep_plan,
    margin_plan,
    plan_dict,
    ratio_of,
    rescaled,
)

FORMAT = 1
"""The version of the plan file."""


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
    except (OSError, ValueError, KeyError, TypeError) as error:  # a CascadaError is a ValueError
        raise CascadaError(f"{path} is damaged ({described(error)}): {remedy}.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}: {remedy}.")
    if plan_exits != exits:
        raise CascadaError(
            f"{path} is for exits {_listed(plan_exits)}, but the ranker's are {_listed(exits)}: {remedy}."
        )
    return plan


def copy_plan(folder: Path, out: Path, exits: tuple[int, ...], scales: Sequence[float]) -> None:
    """Copy the plan saved in `folder`, if there is one, for a ranker whose raw scores at each exit but the last are
    multiplied by these scales."""
    plan = read_plan(folder, exits)
    if plan is not None:
        about = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8")).get("about", {})
        out.mkdir(parents=True, exist_ok=True)
        write_plan(out, rescaled(plan, scales), exits, about)


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
    if has_margins(plan):
        if not all(isinstance(rule, Margin) for rule in plan):
            raise CascadaError("A saved plan has margins at all exits, or at none.")
        content = plan_dict(plan) | {"margin": [str(rule.margin) for rule in plan if isinstance(rule, Margin)]}
        return content | ({"drop": [str(ratio_of(rule)) for rule in plan]} if "drop" in content else {})
    return plan_dict(plan) | {"drop": [str(ratio_of(rule)) for rule in plan]}


def _plan(content: Mapping[str, Any], stages: int) -> Plan:
    if "keep" in content:
        return keep_plan(content["keep"], stages)
    if "margin" in content:
        margins, ratios = (
            None if content.get(name) is None else _decimals(content[name]) for name in ("margin", "drop")
        )
        return margin_plan(margins or [], stages, content.get("at_least"), ratios)
    plan = drop_plan(_decimals(content["drop"]), stages)
    if "at_least" not in content:
        return plan
    keep_plan(content["at_least"], stages)  # the same checks: whole numbers from 1, one for each exit
    return tuple(AtLeast(ratio_of(ratio), keep) for ratio, keep in zip(plan, content["at_least"], strict=True))


def _decimals(values: Any) -> list[Decimal]:
    return [_decimal(value) for value in values]


def _decimal(value: Any) -> Decimal:
    """A number of the plan; one that was edited by hand need not be a string."""
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise CascadaError(f"{value!r} is not a number") from None


def _listed(exits: tuple[int, ...]) -> str:
    return ", ".join(map(str, exits))
