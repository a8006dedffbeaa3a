"""Tuning: from the scores of every exit to a chosen plan, with the figures of all plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult

from cascada.core.errors import CascadaError
from cascada.metrics.measures import DEFAULT_MEASURES, Measure
from cascada.ranking.plan import Plan, drop_plan, plan_dict
from cascada.ranking.stage import Exit
from cascada.ranking.tuning.chains import keep_chain, margin_chain
from cascada.ranking.tuning.choose import Criterion, front
from cascada.ranking.tuning.guarantee import Certificate, certified
from cascada.ranking.tuning.replay import COST, Figures, costs, replay
from cascada.ranking.tuning.scores import Advance, ExitScores, ignored
from cascada.ranking.tuning.vectorised_measures import Values

Row = dict[str, float]
"""The `relative_cost` and the measures of one plan."""

COST_P95 = "relative_cost_p95"
"""95 % of the questions cost at most this. What a margin costs differs from question to question."""
CLEARLY = 1.01
"""An early exit beats the full model if its measure is this many times as high, over all questions."""

Halves = tuple[ExitScores, ExitScores]
"""The questions that a plan is chosen on, and those that it is checked on."""


@dataclass(frozen=True)
class Half:
    """The chosen plan and the full model on one half of the questions."""

    questions: int
    chosen: Row
    full: Row
    error: float
    """The standard error of the difference between the two, in the tuned measure."""


@dataclass(frozen=True)
class Choice:
    """The chosen plan, and what may be expected of it."""

    plan: Plan
    how: str
    """The criterion, in words."""
    figures: Row
    """On all questions, including those it was chosen on."""
    chosen_on: Half
    checked_on: Half
    """The other half of the questions: the figures to expect."""
    certificate: Certificate | None = None

    def to_dict(self) -> dict[str, Any]:
        """The value of `chosen` in what `cascada tune --json` prints."""
        content: dict[str, Any] = {**plan_dict(self.plan), **self.figures, "how": self.how}
        for name, half in (("chosen_on", self.chosen_on), ("checked_on", self.checked_on)):
            content[name] = {"questions": half.questions, **half.chosen, "full": half.full, "error": half.error}
        if self.certificate:
            content["certificate"] = {key: value for key, value in asdict(self.certificate).items() if key != "plan"}
        return content


@dataclass(frozen=True)
class Tuning:
    """The figures of all settings, the Pareto front, and the chosen plan. Prints as tables with rich."""

    measure: str
    settings: Figures
    front: tuple[int, ...]
    """Indices into `settings`, cheapest first."""
    full: Row
    """The full model, without drops."""
    single_exits: dict[Exit, Row]
    """For each exit, the figures if every candidate stops there."""
    chosen: Choice
    title: str = ""
    """What was tuned, on which data."""

    @property
    def better_exit(self) -> Exit | None:
        """The best exit, if it clearly beats the full model: then the last layers are not trained enough."""
        best = max(self.single_exits, key=lambda exit: self.single_exits[exit][self.measure])
        clearly = self.single_exits[best][self.measure] > CLEARLY * self.full[self.measure]
        return best if clearly else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from cascada.ranking.tuning.report import report

        yield from report(self)

    def to_dict(self) -> dict[str, Any]:
        """The tuning as `cascada tune --json` prints it."""
        settings = self.settings
        return {
            "front": [{**plan_dict(settings.plans[place]), **settings.row(place)} for place in self.front],
            "chosen": self.chosen.to_dict(),
            "full": self.full,
            "single_exits": [{"exit": exit, **row} for exit, row in self.single_exits.items()],
            "better_exit": self.better_exit,
            "measure": self.measure,
            "settings": len(settings.plans),
            "questions": settings.questions,
        }


def tune(
    scores: ExitScores,
    plans: Sequence[Plan],
    criterion: Criterion,
    *,
    measure: str = "MAP",
    seed: int = 0,
    halves: Halves | None = None,
    advance: Advance = ignored,
) -> Tuning:
    """Replay the plans, and choose one by the criterion on one half of the questions.

    `seed` determines the halves, unless they are given. `advance` is called with 1 after every question.
    """
    measures = _measures(measure)
    first, second = halves or _halves(scores, seed)
    on_first = replay(first, plans, measures, advance=advance)
    settings = on_first.merged(replay(second, plans, measures, advance=advance))
    # Costs depend only on the numbers of candidates, not on chance, so they are taken over all questions.
    known = replace(on_first, columns={**on_first.columns, COST: settings.columns[COST]})
    chosen = plans[criterion.choose(known, replay(first, [_no_drops(scores)], measures))]
    return _tuning(scores, settings, measures, _choice(chosen, criterion.description, (first, second), measures))


def tune_keeping_best(
    scores: ExitScores,
    plans: Sequence[Plan],
    *,
    at_least: float,
    confidence: float,
    margins: bool = False,
    least: int = 1,
    measure: str = "MAP",
    seed: int = 0,
    halves: Halves | None = None,
    advance: Advance = ignored,
) -> Tuning:
    """Replay the plans for the front, and choose keep counts or margins with a guarantee (see `guarantee.py`).

    No exit of the chosen plan keeps fewer than `least` candidates.
    """
    measures = _measures(measure)
    halves = halves or _halves(scores, seed)
    chain = partial(margin_chain if margins else keep_chain, least=least)
    certificate = certified(*halves, at_least, confidence, chain)
    kind, share = "margins" if margins else "keep counts", f"{100 * at_least:.4g} %"
    how = f"{kind} with which the full model's best candidate survives in at least {share} of questions"
    choice = replace(_choice(certificate.plan, how, halves, measures), certificate=certificate)
    return _tuning(scores, replay(scores, plans, measures, advance=advance), measures, choice)


def _tuning(scores: ExitScores, figures: Figures, measures: Sequence[str], choice: Choice) -> Tuning:
    single_exits = {}
    for exit in scores.exits:
        shorter = scores.until(exit)
        single_exits[exit] = replay(shorter, [_no_drops(shorter)], measures).row(0)
    on_front = tuple(front(figures, measures[0]).tolist())
    return Tuning(measures[0], figures, on_front, single_exits[scores.exits[-1]], single_exits, choice)


def _choice(plan: Plan, how: str, halves: Halves, measures: Sequence[str]) -> Choice:
    first, second = (replay(half, [plan, _no_drops(half)], measures) for half in halves)
    spread = [costs(half, plan) for half in halves]
    chosen_on = _half(first, spread[0], measures[0])
    checked_on = _half(second, spread[1], measures[0])
    return Choice(plan, how, _row(first.merged(second).row(0), np.concatenate(spread)), chosen_on, checked_on)


def _half(figures: Figures, by_question: Values, measure: str) -> Half:
    """One half, from the figures of the chosen plan and of the full model."""
    full = figures.row(1)
    error = float(figures.standard_error(measure, full[measure])[0])
    return Half(figures.questions, _row(figures.row(0), by_question), _row(full, np.ones(1)), error)


def _row(figures: Row, by_question: Values) -> Row:
    """The figures with the 95th percentile of the questions' costs beside their mean."""
    rest = {name: value for name, value in figures.items() if name != COST}
    return {COST: figures[COST], COST_P95: float(np.percentile(by_question, 95)), **rest}


def _measures(measure: str) -> list[str]:
    """The tuned measure, then the default ones."""
    return list(dict.fromkeys((Measure.parse(measure).name, *DEFAULT_MEASURES)))


def _no_drops(scores: ExitScores) -> Plan:
    """The plan of the full model."""
    return drop_plan(0, len(scores.exits))


def _halves(scores: ExitScores, seed: int) -> Halves:
    if len(scores.questions) < 2:
        raise CascadaError("Tuning needs at least 2 questions: one to choose on, and one to check on.")
    return scores.halves(seed)
