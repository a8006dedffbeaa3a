"""From every exit's scores to one plan, with all that was found on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cascada.core.errors import CascadaError
from cascada.metrics.measures import DEFAULT_MEASURES, Measure
from cascada.ranking.plan import Plan, drop_plan
from cascada.ranking.tuning.choose import Wish, front
from cascada.ranking.tuning.guarantee import Certificate, certified
from cascada.ranking.tuning.replay import COST, Each, Figures, replay
from cascada.ranking.tuning.scores import ExitScores

Row = dict[str, float]
"""`relative_cost` and the measures of one plan."""


@dataclass(frozen=True)
class Half:
    """One plan on one half of the questions, and the full model there."""

    questions: int
    chosen: Row
    full: Row
    error: float
    """The standard error of the difference between the two, in the measure that counts."""


@dataclass(frozen=True)
class Choice:
    """The plan that was taken, and what its promise is based on."""

    plan: Plan
    how: str
    figures: Row
    """On all questions: those it was chosen on are among them."""
    chosen_on: Half
    checked_on: Half
    """Questions that had no part in the choice: what may be expected of it."""
    certificate: Certificate | None = None

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {**plan_dict(self.plan), **self.figures, "how": self.how}
        for name, half in (("chosen_on", self.chosen_on), ("checked_on", self.checked_on)):
            found[name] = {"questions": half.questions, **half.chosen, "full": half.full, "error": half.error}
        if self.certificate:
            found["certificate"] = {key: value for key, value in asdict(self.certificate).items() if key != "plan"}
        return found


@dataclass(frozen=True)
class Tuning:
    """Every setting, the front, and the choice."""

    measure: str
    settings: Figures
    front: tuple[int, ...]
    """Places in `settings`, cheapest first."""
    full: Row
    single: dict[int, Row]
    """Exit → the model that ends there."""
    chosen: Choice

    def to_dict(self) -> dict[str, Any]:
        """What `cascada tune --json` prints."""
        settings = self.settings
        return {
            "front": [{**plan_dict(settings.plans[place]), **settings.row(place)} for place in self.front],
            "chosen": self.chosen.to_dict(),
            "full": self.full,
            "single_exits": [{"exit": exit, **row} for exit, row in self.single.items()],
            "measure": self.measure,
            "settings": len(settings.plans),
            "questions": settings.questions,
        }


def tune(
    scores: ExitScores,
    plans: Sequence[Plan],
    wish: Wish,
    *,
    measure: str = "MAP",
    seed: int = 0,
    each: Each | None = None,
) -> Tuning:
    """Replay the plans, and choose the one that the wish asks for on one half of the questions.

    `seed` says which half; `each` is called with 1 after every question.
    """
    measures = _measures(measure)
    first, second = _halves(scores, seed)
    on_first = replay(first, plans, measures, each=each)
    settings = on_first.together(replay(second, plans, measures, each=each))
    # Costs hang on the numbers of candidates alone, so no luck is in them: those of all questions count.
    known = replace(on_first, columns={**on_first.columns, COST: settings.columns[COST]})
    place = wish.choose(known, replay(first, [_nobody(scores)], measures))
    return _tuning(scores, settings, measures, _choice(plans[place], wish.words, (first, second), measures))


def tune_keeping_best(
    scores: ExitScores,
    plans: Sequence[Plan],
    *,
    at_least: float,
    confidence: float,
    measure: str = "MAP",
    seed: int = 0,
    each: Each | None = None,
) -> Tuning:
    """Replay the plans for the front, and choose keep counts with a guarantee."""
    measures = _measures(measure)
    halves = _halves(scores, seed)
    certificate = certified(*halves, at_least, confidence)
    how = (
        f"keep counts by which the full model's best candidate survives in at least {100 * at_least:.4g} % of questions"
    )
    choice = replace(_choice(certificate.plan, how, halves, measures), certificate=certificate)
    return _tuning(scores, replay(scores, plans, measures, each=each), measures, choice)


def plan_dict(plan: Plan) -> dict[str, Any]:
    """A plan for JSON: {"keep": …} if its rules are counts, {"drop": …} if they are ratios."""
    keep = any(isinstance(rule, int) for rule in plan)
    return {"keep": list(plan)} if keep else {"drop": [float(rule) for rule in plan]}


def _tuning(scores: ExitScores, figures: Figures, measures: Sequence[str], choice: Choice) -> Tuning:
    single = {}
    for exit in scores.exits:
        stopped = scores.until(exit)
        single[exit] = replay(stopped, [_nobody(stopped)], measures).row(0)
    places = tuple(front(figures, measures[0]).tolist())
    return Tuning(measures[0], figures, places, single[scores.exits[-1]], single, choice)


def _choice(plan: Plan, how: str, halves: tuple[ExitScores, ExitScores], measures: Sequence[str]) -> Choice:
    first, second = (replay(half, [plan, _nobody(half)], measures) for half in halves)
    chosen_on, checked_on = (_half(figures, measures[0]) for figures in (first, second))
    return Choice(plan, how, first.together(second).row(0), chosen_on, checked_on)


def _half(figures: Figures, measure: str) -> Half:
    """From the figures of a plan and of the full model."""
    chosen, full = figures.row(0), figures.row(1)
    return Half(figures.questions, chosen, full, float(figures.error(measure, full[measure])[0]))


def _measures(measure: str) -> list[str]:
    """The one that counts first, then the usual ones."""
    return list(dict.fromkeys((Measure.parse(measure).name, *DEFAULT_MEASURES)))


def _nobody(scores: ExitScores) -> Plan:
    """The plan by which nobody leaves: the full model."""
    return drop_plan(0, len(scores.exits))


def _halves(scores: ExitScores, seed: int) -> tuple[ExitScores, ExitScores]:
    if len(scores.questions) < 2:
        raise CascadaError("Tuning needs at least 2 questions: one to choose on, one to check on.")
    return scores.halves(seed)
