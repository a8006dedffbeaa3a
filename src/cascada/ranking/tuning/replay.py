"""Replay of drop plans: the exact measures and cost of any plan, from the scores of every exit, without the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.metrics.measures import DEFAULT_MEASURES
from cascada.ranking.plan import Plan
from cascada.ranking.stage import Ints
from cascada.ranking.tuning.plan_tree import Tree, last_exits, shared_counts, tree_of
from cascada.ranking.tuning.scores import Advance, ExitScores, ScoredQuestion, ignored
from cascada.ranking.tuning.vectorised_measures import Ranks, Values, values_of

COST = "relative_cost"
SQUARED = "squared"


@dataclass(frozen=True)
class Figures:
    """The cost and measures of some plans, as means over the questions."""

    plans: tuple[Plan, ...]
    columns: Mapping[str, Values]
    """`relative_cost` and the measures, each (plans,)."""
    squared: Values
    """(plans,): the mean squared difference from the full model in the first measure, over the questions."""
    questions: int

    def row(self, place: int) -> dict[str, float]:
        """The figures of one plan."""
        return {name: float(values[place]) for name, values in self.columns.items()}

    def take(self, rows: Ints) -> Figures:
        """The figures of some of the plans."""
        plans = tuple(self.plans[row] for row in rows)
        columns = {name: values[rows] for name, values in self.columns.items()}
        return Figures(plans, columns, self.squared[rows], self.questions)

    def merged(self, others: Figures) -> Figures:
        """The figures of the same plans over the questions of both."""
        total = self.questions + others.questions
        columns = {
            name: (self.questions * values + others.questions * others.columns[name]) / total
            for name, values in self.columns.items()
        }
        squared = (self.questions * self.squared + others.questions * others.squared) / total
        return Figures(self.plans, columns, squared, total)

    def standard_error(self, measure: str, full: float) -> Values:
        """The standard error of each plan's loss against the full model's value, (plans,)."""
        loss = full - self.columns[measure]
        return np.asarray(np.sqrt(np.maximum(self.squared - loss**2, 0) / max(self.questions - 1, 1)))


def replay(
    scores: ExitScores, plans: Sequence[Plan], measures: Sequence[str] = DEFAULT_MEASURES, *, advance: Advance = ignored
) -> Figures:
    """The measures that `evaluate` yields for a run with each plan, and the mean of `Ranking.relative_cost`.

    `advance` is called with 1 after every question.
    """
    if not scores.questions:
        raise CascadaError("There are no questions with candidates.")
    sums = {name: np.zeros(len(plans)) for name in (COST, SQUARED, *measures)}
    for rows, kept in shared_counts(plans, scores.questions):
        questions = [scores.questions[row] for row in rows]
        sums[COST] += len(questions) * relative_cost(scores, kept, questions[0].candidates)
        tree = tree_of(kept)
        for name, values in _measured(questions, tree, measures, advance).items():
            sums[name] += values[tree.leaf]
    count = len(scores.questions)
    means = {name: values / count for name, values in sums.items()}
    return Figures(tuple(plans), means, means.pop(SQUARED), count)


def costs(scores: ExitScores, plan: Plan) -> Values:
    """The relative cost of each question with a plan, (questions,)."""
    by_question = np.empty(len(scores.questions))
    for rows, kept in shared_counts([plan], scores.questions):
        by_question[rows] = relative_cost(scores, kept, scores.questions[rows[0]].candidates)[0]
    return by_question


def relative_cost(scores: ExitScores, kept: Ints, candidates: int | Ints) -> Values:
    """Layers run, relative to running all candidates to the last exit, if `kept` (rows, exits - 1) survive: (rows,)."""
    if not scores.full:
        return np.ones(len(kept))
    later = kept @ np.array(scores.layers[1:], np.int64)
    return np.asarray((scores.layers[0] * candidates + later) / (scores.full * candidates))


def _measured(
    questions: Sequence[ScoredQuestion], tree: Tree, measures: Sequence[str], advance: Advance
) -> dict[str, Values]:
    """Sums over the questions, (leaves,)."""
    sums = {name: np.zeros(tree.leaves) for name in (SQUARED, *measures)}
    for question in questions:
        correct = np.flatnonzero(question.labels >= 1)
        ranks = _ranks(question, tree, correct)
        for name in measures:
            values = values_of(name, ranks, question.labels[correct])
            sums[name] += values
            if name == measures[0]:
                full = values_of(name, _full_ranks(question, correct), question.labels[correct])
                sums[SQUARED] += (values - full) ** 2
        advance(1)
    return sums


def _ranks(question: ScoredQuestion, tree: Tree, wanted: Ints) -> Ranks:
    """The ranks of the wanted candidates, from 1: by the exit reached, then by score, then by trec_eval's tie rule."""
    last = last_exits(question.scores, tree)  # (leaves, candidates)
    at_last_exit = _trec_ranks(question)[last, np.arange(question.candidates)]
    keys = at_last_exit - last.astype(np.int32) * question.candidates  # no two are equal
    ranks = np.empty((tree.leaves, len(wanted)), np.int64)
    for column, candidate in enumerate(wanted):  # counting is faster than sorting, since few candidates are correct
        ranks[:, column] = (keys <= keys[:, [candidate]]).sum(axis=1)
    return ranks


def _full_ranks(question: ScoredQuestion, wanted: Ints) -> Ranks:
    """The ranks in the full model, without drops: (1, wanted)."""
    return _trec_ranks(question)[-1:, wanted].astype(np.int64) + 1


def _trec_ranks(question: ScoredQuestion) -> Ints:
    """The rank of each candidate at each exit, (exits, candidates); among equal scores the greater id ranks higher."""
    by_id = sorted(range(question.candidates), key=lambda candidate: question.ids[candidate].encode(), reverse=True)
    id_ranks = np.argsort(by_id)
    orders = np.stack([np.lexsort((id_ranks, -scores)) for scores in question.scores])
    return np.argsort(orders, axis=1).astype(np.int32)
