"""A tuning in the terminal: the Pareto front as a table, then the chosen plan and what to expect of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cascada.ranking.plan import AtLeast, Margin, Plan, Rule, has_margins, ratio_of
from cascada.ranking.stage import START, Exit
from cascada.ranking.tuning.replay import COST
from cascada.ranking.tuning.tune import COST_P95, Choice, Row, Tuning

COSTS = {COST: "cost", COST_P95: "95 %"}
"""What the columns of the mean cost and its 95th percentile are called."""

ROWS = 16
"""Rows shown of a longer front, in addition to the chosen one."""


def report(tuning: Tuning) -> Iterator[RenderableType]:
    """The parts to print, in order."""
    exits = " ".join(map(str, tuning.single_exits))
    settings = tuning.settings
    if tuning.title:
        yield Text(tuning.title, no_wrap=True, overflow="ignore")
    yield f"{settings.questions:,} questions, exits {exits}, {len(settings.plans):,} settings"
    yield ""
    yield _front(tuning)
    if len(tuning.front) > ROWS:
        yield f" The front has {len(tuning.front)} settings; --json prints them all."
    yield ""
    choice = tuning.chosen
    yield f"Chosen: {_kind(choice.plan)} {_shown(choice.plan)}, {choice.how}."
    yield _halves(choice)
    yield _promise(tuning)
    if tuning.better_exit is not None:
        yield _warning(tuning, tuning.better_exit)


def _warning(tuning: Tuning, exit: Exit) -> str:
    """Warn that an early exit beats the full model, which makes figures relative to the full model meaningless."""
    best, full = tuning.single_exits[exit][tuning.measure], tuning.full[tuning.measure]
    figures = f"{tuning.measure} {full:.4f} against {best:.4f}"
    if exit == START:
        return f"The full model is worse than BM25 in front of it: {figures}. Figures relative to it say little."
    return (
        f"The full model is worse than its own exit {exit}: {figures}. "
        "Its last layers are not trained enough, and figures relative to it say little. "
        f"Train longer, or keep that exit alone: `cascada cut MODEL OUT --exits {exit}`."
    )


def _front(tuning: Tuning) -> Table:
    settings = tuning.settings
    table = _table(f"drop after {' '.join(map(str, list(tuning.single_exits)[:-1]))}", tuning.full)
    chosen = [place for place in tuning.front if settings.plans[place] == tuning.chosen.plan]
    for place in sorted({*_thinned(tuning.front), *chosen}, key=tuning.front.index):
        style = "bold green" if place in chosen else ""
        table.add_row(_shown(settings.plans[place]), *_cells(settings.row(place)), style=style)
    table.add_section()
    for exit, row in tuning.single_exits.items():
        table.add_row("full model" if row is tuning.full else f"all stop at {exit}", *_cells(row), style="dim")
    return table


def _halves(choice: Choice) -> Table:
    table = _table("", choice.figures, "questions")
    for name, half in (("chosen on", choice.chosen_on), ("checked on", choice.checked_on)):
        table.add_row(name, str(half.questions), *_cells(half.chosen))
        table.add_row("  full model", "", *_cells(half.full), style="dim")
    return table


def _promise(tuning: Tuning) -> str:
    """What to expect, from the questions that the plan was not chosen on."""
    choice, measure = tuning.chosen, tuning.measure
    if choice.certificate:
        return str(choice.certificate)
    half = choice.checked_on
    full = half.full[measure] or 1.0
    lost, error = 1 - half.chosen[measure] / full, f"± {100 * half.error / full:.1f}"
    change = f"loses {100 * lost:.1f} {error} % of" if lost >= 0 else f"gains {-100 * lost:.1f} {error} % of"
    cost = 100 * half.chosen[COST]
    where = f"on the {half.questions} questions that it was not chosen on"
    return f"What to expect: {where} it {change} the full model's {measure}, at {cost:.0f} % of its cost."


def _table(first: str, row: Row, *more: str) -> Table:
    table = Table(box=None, padding=(0, 1))
    table.add_column(first, no_wrap=True)
    for name in (*more, *(COSTS.get(name, name) for name in row)):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _cells(row: Row) -> list[str]:
    return [f"{value:.3f}" if name in COSTS else f"{value:.4f}" for name, value in row.items()]


def _kind(plan: Plan) -> str:
    if has_margins(plan):
        return "margin"
    return "keep" if any(isinstance(rule, int) for rule in plan) else "drop"


def _shown(plan: Plan) -> str:
    least = [rule.keep for rule in plan if isinstance(rule, (AtLeast, Margin))]
    rules = " ".join(f"{_number(rule):g}" for rule in plan)
    if has_margins(plan) and any(ratio_of(rule) for rule in plan):
        rules += f" and drop {' '.join(f'{float(ratio_of(rule)):g}' for rule in plan)}"
    numbers = least if len(set(least)) > 1 else least[:1]
    return f"{rules} (at least {', '.join(map(str, numbers))} stay)" if any(number > 1 for number in least) else rules


def _number(rule: Rule) -> float:
    return rule if isinstance(rule, int) else float(rule.margin if isinstance(rule, Margin) else ratio_of(rule))


def _thinned(front: tuple[int, ...]) -> list[int]:
    """At most `ROWS` of the settings, including both ends."""
    if len(front) <= ROWS:
        return list(front)
    return [front[place] for place in np.linspace(0, len(front) - 1, ROWS).round().astype(int)]
