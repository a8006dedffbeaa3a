"""Chains of plans, from one that drops no candidates to one that drops nearly all, learned from unlabelled questions.

Each plan is just large enough for the full model's best candidate to survive in a set of questions; the next plan gives
up the questions that save most cost. For this candidate to survive, an exit needs a keep count, the candidate's rank
there, or a margin, the difference between the best score there and the candidate's. Both only shrink as other
candidates are dropped, so what is enough among all candidates is enough in a cascade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_UP, Decimal

import numpy as np

from cascada.ranking.executor import best_first
from cascada.ranking.plan import Margin, Plan, drop_plan
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.ranking.tuning.replay import relative_cost
from cascada.ranking.tuning.scores import ExitScores, ScoredQuestion
from cascada.ranking.tuning.vectorised_measures import Values

FACTOR = 1.1
"""Above the tight plans, each plan keeps this many times as many candidates as the next, or has a margin that exceeds
the tight one by this many times as much."""

SMALLEST_EXCESS = 0.01
"""Plans that exceed the tight one by less than this share of the distance to the widest margin are left out."""

DECIMALS = Decimal("0.001")
"""Margins are rounded up to this."""


def keep_chain(scores: ExitScores, least: int = 1) -> list[Plan]:
    """Plans of keep counts from the most generous to the cheapest; the first drops no candidates.

    No exit keeps fewer than `least`.
    """
    needed = np.stack([_ranks(question) for question in scores.questions])  # (questions, exits - 1)
    sizes = np.array([question.candidates for question in scores.questions])

    def cost(keep: Ints) -> float:
        kept = np.minimum.accumulate(np.minimum(keep, sizes[:, None]), axis=1)  # (questions, exits - 1)
        return float(relative_cost(scores, kept, sizes).mean())

    tight = list(_tight(needed, cost))
    keeps = [*_generous_keeps(tight[0], int(sizes.max())), *tight]
    plans = dict.fromkeys(tuple(np.maximum(np.minimum.accumulate(keep), least).tolist()) for keep in keeps)
    return [drop_plan(0, len(scores.exits)), *plans]


def margin_chain(scores: ExitScores, least: int = 1) -> list[Plan]:
    """Plans of margins from the widest to the narrowest; the first drops no candidates.

    No exit keeps fewer than `least`.
    """
    needed = np.stack([_gaps(question)[:, best_of(question)] for question in scores.questions])
    sizes = np.array([question.candidates for question in scores.questions])
    gaps = np.full((len(sizes), needed.shape[1], sizes.max()), np.inf, np.float32)  # (questions, exits - 1, candidates)
    for row, question in zip(gaps, scores.questions, strict=True):
        row[:, : question.candidates] = _gaps(question)

    def cost(margins: Floats) -> float:
        """An estimate by how many candidates lie within each margin, no matter which of them were dropped before."""
        within = np.minimum.accumulate((gaps <= margins[:, None]).sum(2), axis=1)
        return float(relative_cost(scores, within, sizes).mean())

    tight = list(_tight(needed, cost))
    widest = np.where(np.isfinite(gaps), gaps, 0).max(axis=(0, 2))
    margins = [*_generous_margins(tight[0], widest), *tight]
    plans = dict.fromkeys(tuple(Margin(_rounded_up(value), least) for value in row) for row in margins)
    return [drop_plan(0, len(scores.exits)), *plans]


def best_of(question: ScoredQuestion) -> int:
    """The candidate that the full model ranks first."""
    return int(best_first(question.scores[-1])[0]) if question.best is None else question.best


def _ranks(question: ScoredQuestion) -> Ints:
    """The rank of the full model's best candidate among all candidates, at each exit but the last: (exits - 1,)."""
    best = best_of(question)
    return np.array([int(np.flatnonzero(best_first(scores) == best)[0]) + 1 for scores in question.scores[:-1]])


def _gaps(question: ScoredQuestion) -> Floats:
    """The difference of each candidate's score from the best, at each exit but the last: (exits - 1, candidates)."""
    scores = question.scores[:-1]
    return np.asarray(scores.max(axis=1, keepdims=True) - scores, np.float32)


def _tight(needed: Ints | Floats, cost: Callable[..., float]) -> Iterator[Ints | Floats]:
    """Plans with which the best candidate survives in all questions, then ever smaller ones.

    `needed` (questions, exits - 1) is what each question needs at each exit. Each step gives up the questions that save
    most cost per question.
    """
    covered = np.ones(len(needed), bool)
    while True:
        plan = needed[covered].max(axis=0)
        yield plan
        worst: list[Bools] = [covered & (needed[:, exit] == plan[exit]) for exit in range(len(plan))]
        options = [covered & ~lost for lost in worst if (covered & ~lost).any()]
        if not options:
            return
        now = cost(plan)
        saved = [now - cost(needed[option].max(axis=0)) for option in options]
        given_up = [covered.sum() - option.sum() for option in options]
        covered = options[int(np.argmax(np.array(saved) / np.array(given_up)))]


def _generous_keeps(tight: Ints | Floats, most: int) -> Iterator[Ints]:
    """Keep counts from `most`, all candidates, down to `tight`, by the same factor at all exits."""
    factors = [1.0]
    while tight.min() * factors[-1] < most:
        factors.append(factors[-1] * FACTOR)
    for factor in reversed(factors):
        yield np.minimum(np.ceil(tight * factor).astype(np.int64), most)


def _generous_margins(tight: Ints | Floats, widest: Floats) -> Iterator[Values]:
    """Margins from the `widest`, within which all candidates lie, towards `tight`."""
    excess = 1.0
    while excess > SMALLEST_EXCESS:
        yield np.asarray(tight + excess * (widest - tight), np.float64)
        excess /= FACTOR


def _rounded_up(value: float) -> Decimal:
    return Decimal(float(value)).quantize(DECIMALS, rounding=ROUND_UP)
