"""Keep counts with a guarantee: how often the full model's best candidate is still in at the end.

A chain of plans, from keeping everyone down to keeping one, is learned on one half of the questions. The other half
tests them in that order, each by the exact binomial tail, and stops at the first that fails: a fixed sequence, so the
confidence holds for whichever plan is taken of those that passed, however many were tested (Angelopoulos et al.,
"Learn then Test", 2021). It is assumed that the questions to come are drawn as those of the second half were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from cascada.core.errors import CascadaError, require
from cascada.ranking.executor import best_first
from cascada.ranking.plan import Plan, drop_plan
from cascada.ranking.stage import Bools, Ints
from cascada.ranking.tuning.measures import Values
from cascada.ranking.tuning.replay import relative_cost
from cascada.ranking.tuning.scores import ExitScores, Question
from cascada.ranking.tuning.survivors import Settings, last_exits, tree_of

GENEROUS = 1.1
"""By how much each plan before the tight ones keeps more than the next."""


@dataclass(frozen=True)
class Certificate:
    """What the held-out questions say of a plan."""

    plan: Plan
    survived: int
    questions: int
    at_least: float
    """In so large a share of all questions, or a larger one, the best candidate survives."""
    confidence: float
    """How sure that is."""

    def __str__(self) -> str:
        return (
            f"The full model's best candidate survived in {self.survived} of {self.questions} held-out questions: "
            f"with {100 * self.confidence:.4g} % confidence it does in at least {100 * self.at_least:.4g} % of all."
        )


def certified(learn: ExitScores, test: ExitScores, at_least: float, confidence: float) -> Certificate:
    """The cheapest plan of keep counts that is certain enough."""
    check_certainty(at_least, confidence)
    _check_enough(len(test.questions), at_least, confidence)
    plans = chain(learn)
    survived = survivals(test, plans).sum(axis=1)  # (plans,)
    passed = _passed(survived, len(test.questions), at_least, confidence)
    return Certificate(plans[passed - 1], int(survived[passed - 1]), len(test.questions), at_least, confidence)


def check_certainty(at_least: float, confidence: float) -> None:
    """Nothing is certain: both must lie below 1."""
    for name, share in (("The share of questions", at_least), ("The confidence", confidence)):
        if not 0 < share < 1:
            raise CascadaError(f"{name} is {share:g}; it must lie between 0 and 1, such as 0.95.")


def questions_needed(at_least: float, confidence: float) -> int:
    """Held-out questions below which nothing can be certified, even if the best candidate survives in all of them."""
    return ceil(log(1 - confidence) / log(at_least))


def p_value(survived: Ints, questions: int, at_least: float) -> Values:
    """How likely so many survive by luck, if they do in a share of `at_least` and no more: P(X ≥ survived)."""
    binomial = require("scipy.stats", "eval", "certifying").binom
    return np.asarray(binomial.sf(survived - 1, questions, at_least))


def chain(scores: ExitScores) -> list[Plan]:
    """Plans of keep counts from the most generous to the cheapest; the first drops nobody, so it passes any test."""
    needed = np.stack([_needed(question) for question in scores.questions])  # (questions, exits - 1)
    sizes = np.array([question.candidates for question in scores.questions])
    tight = list(_tighter(scores, needed, sizes))
    keeps = [*_generous(tight[0], int(sizes.max())), *tight]
    plans = dict.fromkeys(tuple(np.minimum.accumulate(keep).tolist()) for keep in keeps)
    return [drop_plan(0, len(scores.exits)), *plans]


def survivals(scores: ExitScores, plans: Sequence[Plan]) -> Bools:
    """Whether the full model's best candidate comes to the last exit: (plans, questions)."""
    settings = Settings(plans, most=max(question.candidates for question in scores.questions))
    trees = {size: tree_of(settings.kept(size)) for size in {one.candidates for one in scores.questions}}
    found = np.empty((len(plans), len(scores.questions)), bool)
    for column, question in enumerate(scores.questions):
        tree = trees[question.candidates]
        last = last_exits(question.scores, tree)[:, _best(question)]  # (leaves,)
        found[:, column] = (last == len(question.scores) - 1)[tree.leaf]
    return found


def _best(question: Question) -> int:
    return int(best_first(question.scores[-1])[0])


def _needed(question: Question) -> Ints:
    """The full model's best candidate's rank at each exit but the last, among all candidates: (exits - 1,).

    Keeping as many at every exit is enough for it to survive; among the survivors it can only stand higher.
    """
    best = _best(question)
    return np.array([int(np.flatnonzero(best_first(scores) == best)[0]) + 1 for scores in question.scores[:-1]])


def _generous(tight: Ints, everyone: int) -> Iterator[Ints]:
    """From keeping everyone down to `tight`, all exits by the same factor."""
    factors = [1.0]
    while tight.min() * factors[-1] < everyone:
        factors.append(factors[-1] * GENEROUS)
    for factor in reversed(factors):
        yield np.minimum(np.ceil(tight * factor).astype(np.int64), everyone)


def _tighter(scores: ExitScores, needed: Ints, sizes: Ints) -> Iterator[Ints]:
    """Keep counts by which all questions survive, then fewer: each time those are given up that buy most."""
    inside = np.ones(len(needed), bool)
    while True:
        keep = needed[inside].max(axis=0)
        yield keep
        worst = [inside & (needed[:, exit] == keep[exit]) for exit in range(len(keep))]
        options = [inside & ~lost for lost in worst if (inside & ~lost).any()]
        if not options:
            return
        now = _cost(scores, keep, sizes)
        saved = [now - _cost(scores, needed[option].max(axis=0), sizes) for option in options]
        given_up = [inside.sum() - option.sum() for option in options]
        inside = options[int(np.argmax(np.array(saved) / np.array(given_up)))]


def _cost(scores: ExitScores, keep: Ints, sizes: Ints) -> float:
    """Mean relative cost of the keep counts."""
    kept = np.minimum.accumulate(np.minimum(keep, sizes[:, None]), axis=1)  # (questions, exits - 1)
    return float(relative_cost(scores, kept, sizes).mean())


def _check_enough(questions: int, at_least: float, confidence: float) -> None:
    needed = questions_needed(at_least, confidence)
    if questions < needed:
        raise CascadaError(
            f"The guarantee needs at least {needed} held-out questions, so {2 * needed - 1} in all, but there are "
            f"{questions} held out: ask for less than {at_least:.4g} or a lower confidence, or bring more questions "
            "(they need no labels: see --mode raw)."
        )


def _passed(survived: Ints, questions: int, at_least: float, confidence: float) -> int:
    """How many plans pass before the first that does not. The one that drops nobody needs no test."""
    passes = p_value(survived, questions, at_least) <= 1 - confidence
    passes[0] = True  # with no question to spare, a rounding error would otherwise decide
    return len(passes) if passes.all() else int(np.argmin(passes))
