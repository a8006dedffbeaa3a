"""Rankings of whole data sets as TREC runs, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

import numpy as np

from cascada.data import Group, Run
from cascada.metrics.calibration import calibration_error
from cascada.ranking.inputs import DEFAULT_OPTIONS, QuestionCandidates, RankOptions
from cascada.ranking.ranker import Ranker
from cascada.ranking.result import Ranking


def run_of(
    ranker: Ranker,
    groups: Sequence[Group],
    options: RankOptions = DEFAULT_OPTIONS,
    *,
    on_ranking: Callable[[Group, Ranking], None] | None = None,
) -> Run:
    """Rank every group. Questions and candidates must have ids (see `cascada.data.identified`).

    A question without candidates is not in the run. `on_ranking` is called with each group and its ranking.
    """
    groups = with_candidates(groups)
    run: Run = {}
    for group, ranking in zip(groups, ranker.rank_all(_questions(groups), options), strict=True):
        if on_ranking:
            on_ranking(group, ranking)
        ids = [str(group.candidates[item.index].id) for item in ranking]
        run[str(group.id)] = dict(zip(ids, run_scores(ranking), strict=True))
    return run


def exit_runs(
    ranker: Ranker, groups: Sequence[Group], advance: Callable[[int], None] = lambda pairs: None
) -> list[Run]:
    """One run for each exit, as if all candidates had stopped there, from one pass; groups as for `run_of`.

    `advance` is called with the number of pairs ranked since the last call.
    """
    groups = with_candidates(groups)
    runs: list[Run] = [{} for _ in ranker.stages]
    for group, scores in zip(groups, ranker.exit_scores(_questions(groups)), strict=True):
        advance(len(group.candidates))
        ids = [str(candidate.id) for candidate in group.candidates]
        for run, row in zip(runs, scores.tolist(), strict=True):
            run[str(group.id)] = dict(zip(ids, row, strict=True))
    return runs


def run_scores(ranking: Ranking) -> list[float]:
    """Numbers in the order of the ranking, equal only where the ranker gave two candidates the same score.

    If all candidates were last scored by the same stage, these are the raw scores. Scores of different stages are not
    comparable; then the number counts the distinct positions below a candidate.
    """
    if len({len(item.scores) for item in ranking}) <= 1:
        return [item.raw_score for item in ranking]
    keys = [(len(item.scores), item.raw_score) for item in ranking]
    steps = np.cumsum([0, *(before != after for before, after in pairwise(keys))])
    return [float(steps[-1] - step) for step in steps]


@dataclass
class RunCosts:
    """Collects the costs of rankings relative to running every candidate to the last exit, and how well their scores
    are calibrated.
    """

    layers: list[float] = field(default_factory=list)
    operations: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    correct: list[bool] = field(default_factory=list)

    def add(self, group: Group, ranking: Ranking) -> None:
        """Add the ranking of one question."""
        self.layers.append(ranking.relative_cost)
        if ranking.full_flops:
            self.operations.append(ranking.flops / ranking.full_flops)
        self.scores += [item.score for item in ranking]
        self.correct += [group.labels[item.index] > 0 for item in ranking]

    def means(self) -> dict[str, float]:
        """`relative_cost` and `flops_share`, averaged over the questions, the former's 95th percentile
        (`relative_cost_p95`), and `calibration_error`.

        Only the first and the percentile for a ranker that counts no operations, such as BM25: its scores are not
        probabilities.
        """
        if not self.layers:
            return {}
        costs = {
            "relative_cost": fmean(self.layers),
            "relative_cost_p95": float(np.percentile(self.layers, 95)),
        }
        if not self.operations:
            return costs
        return costs | {
            "flops_share": fmean(self.operations),
            "calibration_error": calibration_error(np.array(self.scores), np.array(self.correct)),
        }


def with_candidates(groups: Iterable[Group]) -> list[Group]:
    """The groups that have candidates."""
    return [group for group in groups if group.candidates]


def _questions(groups: Sequence[Group]) -> Iterable[QuestionCandidates]:
    return ((group.question, group.texts) for group in groups)
