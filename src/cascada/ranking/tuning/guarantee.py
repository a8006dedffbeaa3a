"""Keep counts or margins with a guarantee of how often the full model's best candidate reaches the last exit.

A chain of plans, from keeping all candidates down to keeping one, is learned on one half of the questions (see
`chains.py`). The plans are tested on the other half in that order, each by the exact binomial tail, up to the first
that fails. Because this is fixed-sequence testing, the confidence holds for any plan that passed, however many were
tested (Angelopoulos et al., "Learn then Test", 2021). Future questions are assumed to be drawn from the same
distribution as the second half.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from cascada.core.errors import CascadaError, require
from cascada.ranking.plan import Plan
from cascada.ranking.stage import Bools, Ints
from cascada.ranking.tuning.chains import best_of, keep_chain
from cascada.ranking.tuning.plan_tree import last_exits, shared_counts, tree_of
from cascada.ranking.tuning.scores import ExitScores
from cascada.ranking.tuning.vectorised_measures import Values

Chain = Callable[[ExitScores], list[Plan]]
"""Plans from the most generous to the cheapest, learned from some questions."""


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


def certified(
    learn: ExitScores, test: ExitScores, at_least: float, confidence: float, chain: Chain = keep_chain
) -> Certificate:
    """The cheapest plan of the chain that meets the guarantee."""
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


def survivals(scores: ExitScores, plans: Sequence[Plan]) -> Bools:
    """Whether the full model's best candidate reaches the last exit, (plans, questions)."""
    survived = np.empty((len(plans), len(scores.questions)), bool)
    for rows, kept in shared_counts(plans, scores.questions):
        tree = tree_of(kept)
        for row in rows:
            question = scores.questions[row]
            last = last_exits(question.scores, tree)[:, best_of(question)]  # (leaves,)
            survived[:, row] = (last == len(question.scores) - 1)[tree.leaf]
    return survived


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
