"""The one loop that every ranker runs in: score, drop the worst, go on with the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from cascada.errors import CascadaError
from cascada.ranking.drop import dropped
from cascada.ranking.stage import Bools, Floats, Ints, Pairs, Stage


@dataclass(frozen=True)
class Outcome:
    """How one question's candidates came out. All arrays are in the candidates' original order but `order`."""

    order: Ints  # (candidates,): indices, best first
    raw: Floats  # (candidates,): the last score each one got
    probability: Floats  # (candidates,)
    stage: Ints  # (candidates,): index of the stage each one left at
    truncated: Bools  # (candidates,)
    layers_run: int  # layer-candidates spent


def execute(stages: Sequence[Stage], pairs: Pairs, plan: Sequence[Decimal]) -> list[Outcome]:
    """Run all questions' candidates through the stages; each question is pruned by itself.

    After stage i, of the k survivors of a question the floor(plan[i]·k) lowest leave; among equal scores the one that
    stands later in the list leaves first.
    """
    everyone = pairs
    raw, probability = np.zeros(len(everyone), np.float32), np.zeros(len(everyone), np.float32)
    left_at, truncated = np.zeros(len(everyone), np.int64), np.zeros(len(everyone), bool)
    layers_run = np.zeros(len(everyone.questions), np.int64)
    alive = np.arange(len(everyone))
    state = None
    for index, stage in enumerate(stages):
        scored = stage.score(pairs, state)
        if not np.isfinite(scored.scores).all():
            raise CascadaError("The ranker's scores are not numbers: its weights are damaged or its training diverged.")
        raw[alive], probability[alive], left_at[alive] = scored.scores, stage.probability(scored.scores), index
        if scored.truncated is not None:
            truncated[alive] |= scored.truncated
        layers_run += stage.layers * np.bincount(pairs.owner, minlength=len(layers_run))
        state = scored.state
        if index < len(stages) - 1 and plan[index] > 0:
            rows = survivors(scored.scores, pairs.owner, plan[index])
            alive, pairs = alive[rows], pairs.take(rows)
            state = state.take(rows) if state is not None else None
    return [
        Outcome(
            order=np.lexsort((-raw[rows], -left_at[rows])),  # who stayed longest first, then by the last score
            raw=raw[rows],
            probability=probability[rows],
            stage=left_at[rows],
            truncated=truncated[rows],
            layers_run=int(layers_run[question]),
        )
        for question, rows in enumerate(rows_of(everyone.owner, len(everyone.questions)))
    ]


def survivors(scores: Floats, owner: Ints, ratio: Decimal) -> Ints:
    """Rows that stay in, in their order."""
    keep = np.ones(len(scores), bool)
    for rows in rows_of(owner, int(owner.max(initial=-1)) + 1):
        leaving = dropped(ratio, len(rows))
        if leaving:
            keep[rows[best_first(scores[rows])[-leaving:]]] = False
    return np.flatnonzero(keep)


def best_first(scores: Floats) -> Ints:
    """Indices by falling score; equal scores keep their order."""
    return np.argsort(-scores, kind="stable")


def rows_of(owner: Ints, questions: int) -> list[Ints]:
    """Each question's rows, in their order."""
    counts = np.bincount(owner, minlength=questions)
    return np.split(np.argsort(owner, kind="stable"), np.cumsum(counts)[:-1])
