"""Keep counts with a guarantee of how often the full model's best candidate reaches the last exit.

A chain of plans, from keeping all candidates down to keeping one, is learned on one half of the questions. The plans
are tested on the other half in that order, each by the exact binomial tail, up to the first that fails. Because this is
fixed-sequence testing, the confidence holds for any plan that passed, however many were tested (Angelopoulos et al.,
"Learn then Test", 2021). Future questions are assumed to be drawn from the same distribution as the second half.
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
from cascada.ranking.tuning.plan_tree import PlanTable, last_exits, tree_of
from cascada.ranking.tuning.replay import relative_cost
from cascada.ranking.tuning.scores import ExitScores, ScoredQuestion
from cascada.ranking.tuning.vectorised_measures import Values

KEEP_FACTOR = 1.1
"""Above the tight plans, each plan keeps this many times as many candidates as the next."""


@dataclass(frozen=True)
class Certificate:
    """A plan with its guarantee, from the held-out questions."""

    plan: Plan
    survived: int
    """Held-out questions in which the full model's best candidate reached the last exit."""
    questions: int
    """Held-out questions."""
    at_least: float
    """The guaranteed share of questions in which the best candidate survives."""
    confidence: float
    """The confidence level of the guarantee."""

    def __str__(self) -> str:
        return (
            f"The full model's best candidate survived in {self.survived} of {self.questions} held-out questions: "
            f"with {100 * self.confidence:.4g} % confidence it does in at least {100 * self.at_least:.4g} % of all."
        )


def certified(learn: ExitScores, test: ExitScores, at_least: float, confidence: float) -> Certificate:
    """The cheapest plan of keep counts that meets the guarantee."""
    check_certainty(at_least, confidence)
    _check_enough(len(test.questions), at_least, confidence)
    plans = chain(learn)
    survived = survivals(test, plans).sum(axis=1)  # (plans,)
    last = _passed(survived, len(test.questions), at_least, confidence) - 1
    return Certificate(plans[last], int(survived[last]), len(test.questions), at_least, confidence)


def check_certainty(at_least: float, confidence: float) -> None:
    """Raise an error unless both lie strictly between 0 and 1."""
    for name, share in (("The share of questions", at_least), ("The confidence", confidence)):
        if not 0 < share < 1:
            raise CascadaError(f"{name} is {share:g}; it must lie between 0 and 1, such as 0.95.")


def questions_needed(at_least: float, confidence: float) -> int:
    """The fewest held-out questions that can certify anything, even if the best candidate survives in all of them."""
    return ceil(log(1 - confidence) / log(at_least))


def p_value(survived: Ints, questions: int, at_least: float) -> Values:
    """P(X ≥ survived) if the best candidate survives in a share of exactly `at_least` of the questions."""
    binomial = require("scipy.stats", "eval", "certifying").binom
    return np.asarray(binomial.sf(survived - 1, questions, at_least))


def chain(scores: ExitScores) -> list[Plan]:
    """Plans of keep counts from the most generous to the cheapest; the first drops no candidates."""
    needed = np.stack([_needed(question) for question in scores.questions])  # (questions, exits - 1)
    sizes = np.array([question.candidates for question in scores.questions])
    tight = list(_tight(scores, needed, sizes))
    keeps = [*_generous(tight[0], int(sizes.max())), *tight]
    plans = dict.fromkeys(tuple(np.minimum.accumulate(keep).tolist()) for keep in keeps)
    return [drop_plan(0, len(scores.exits)), *plans]


def survivals(scores: ExitScores, plans: Sequence[Plan]) -> Bools:
    """Whether the full model's best candidate reaches the last exit, (plans, questions)."""
    table = PlanTable(plans, most=max(question.candidates for question in scores.questions))
    trees = {size: tree_of(table.kept(size)) for size in {question.candidates for question in scores.questions}}
    survived = np.empty((len(plans), len(scores.questions)), bool)
    for column, question in enumerate(scores.questions):
        tree = trees[question.candidates]
        last = last_exits(question.scores, tree)[:, _best(question)]  # (leaves,)
        survived[:, column] = (last == len(question.scores) - 1)[tree.leaf]
    return survived


def _best(question: ScoredQuestion) -> int:
    return int(best_first(question.scores[-1])[0]) if question.best is None else question.best


def _needed(question: ScoredQuestion) -> Ints:
    """The rank of the full model's best candidate among all candidates, at each exit but the last: (exits - 1,).

    Keeping that many candidates at every exit is enough for it to survive, since among survivors it can only rank
    higher.
    """
    best = _best(question)
    return np.array([int(np.flatnonzero(best_first(scores) == best)[0]) + 1 for scores in question.scores[:-1]])


def _generous(tight: Ints, most: int) -> Iterator[Ints]:
    """Keep counts from `most`, all candidates, down to `tight`, by the same factor at all exits."""
    factors = [1.0]
    while tight.min() * factors[-1] < most:
        factors.append(factors[-1] * KEEP_FACTOR)
    for factor in reversed(factors):
        yield np.minimum(np.ceil(tight * factor).astype(np.int64), most)


def _tight(scores: ExitScores, needed: Ints, sizes: Ints) -> Iterator[Ints]:
    """Keep counts with which the best candidate survives in all questions, then ever smaller ones.

    Each step gives up the questions that save most cost per question.
    """
    covered = np.ones(len(needed), bool)
    while True:
        keep = needed[covered].max(axis=0)
        yield keep
        worst = [covered & (needed[:, exit] == keep[exit]) for exit in range(len(keep))]
        options = [covered & ~lost for lost in worst if (covered & ~lost).any()]
        if not options:
            return
        now = _cost(scores, keep, sizes)
        saved = [now - _cost(scores, needed[option].max(axis=0), sizes) for option in options]
        given_up = [covered.sum() - option.sum() for option in options]
        covered = options[int(np.argmax(np.array(saved) / np.array(given_up)))]


def _cost(scores: ExitScores, keep: Ints, sizes: Ints) -> float:
    """The mean relative cost of these keep counts."""
    kept = np.minimum.accumulate(np.minimum(keep, sizes[:, None]), axis=1)  # (questions, exits - 1)
    return float(relative_cost(scores, kept, sizes).mean())


def _check_enough(questions: int, at_least: float, confidence: float) -> None:
    needed = questions_needed(at_least, confidence)
    if questions < needed:
        raise CascadaError(
            f"The guarantee needs at least {needed} held-out questions, so {2 * needed - 1} in all, but there are "
            f"{questions} held out: lower the share, {at_least:.4g}, or the confidence, or use more questions "
            "(they need no labels: see --mode raw)."
        )


def _passed(survived: Ints, questions: int, at_least: float, confidence: float) -> int:
    """How many plans pass before the first that fails. The first plan drops no candidates, so it needs no test."""
    passes = p_value(survived, questions, at_least) <= 1 - confidence
    passes[0] = True  # otherwise a rounding error could decide if every question is needed
    return len(passes) if passes.all() else int(np.argmin(passes))
