"""Rankings of whole data sets, as TREC runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from cascada.data import Group, Run
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.ranker import Ranker
from cascada.ranking.result import Ranking


def run_of(
    ranker: Ranker,
    groups: Sequence[Group],
    *,
    drop: Drop = None,
    keep: Keep | None = None,
    each: Callable[[Ranking], None] | None = None,
) -> Run:
    """Rank every group, whose questions and candidates must have ids (see `cascada.data.identified`).

    A question without candidates is not in the run. `each` is called with every ranking as it comes, for a progress
    bar.
    """
    groups = [group for group in groups if group.candidates]
    run: Run = {}
    for group, ranking in zip(groups, ranker.rank_many(_questions(groups), drop=drop, keep=keep), strict=True):
        if each:
            each(ranking)
        ids = [str(group.candidates[item.index].id) for item in ranking]
        run[str(group.id)] = dict(zip(ids, run_scores(ranking), strict=True))
    return run


def exit_runs(
    ranker: Ranker, groups: Sequence[Group], advance: Callable[[int], None] = lambda pairs: None
) -> list[Run]:
    """One run for each exit, as if everyone had left there, from one pass; groups as for `run_of`.

    `advance` is told how many pairs were ranked, as they are.
    """
    groups = [group for group in groups if group.candidates]
    runs: list[Run] = [{} for _ in ranker.stages]
    for group, scores in zip(groups, ranker.exit_scores(_questions(groups)), strict=True):
        advance(len(group.candidates))
        ids = [str(candidate.id) for candidate in group.candidates]
        for run, row in zip(runs, scores.tolist(), strict=True):
            run[str(group.id)] = dict(zip(ids, row, strict=True))
    return runs


def run_scores(ranking: Ranking) -> list[float]:
    """Numbers that put the candidates in the ranking's order, equal where the ranker could not tell two apart.

    The raw scores do, where all candidates left at one stage. Scores of different stages cannot be compared, so there
    the number is how many steps a candidate stands above the last one.
    """
    if len({len(item.scores) for item in ranking}) == 1:
        return [item.raw_score for item in ranking]
    keys = [(len(item.scores), item.raw_score) for item in ranking]
    steps = np.cumsum([0, *(before != after for before, after in pairwise(keys))])
    return [float(steps[-1] - step) for step in steps]


def _questions(groups: Sequence[Group]) -> Iterable[tuple[str, Sequence[str]]]:
    return ((group.question, group.texts) for group in groups)
