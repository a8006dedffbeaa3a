"""What any setting would have scored and cost, from every exit's scores: exact, and without running the model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.metrics.measures import DEFAULT_MEASURES
from cascada.ranking.plan import Plan
from cascada.ranking.stage import Ints
from cascada.ranking.tuning.measures import Places, Values, values_of
from cascada.ranking.tuning.scores import ExitScores, Question
from cascada.ranking.tuning.survivors import Settings, Tree, last_exits, tree_of

COST = "relative_cost"


SQUARED = "squared"


Each = Callable[[int], None]


@dataclass(frozen=True)
class Figures:
    """What each of some plans costs and scores, as means over the questions."""

    plans: tuple[Plan, ...]
    columns: Mapping[str, Values]
    """`relative_cost` and the measures, each (plans,)."""
    squared: Values
    """(plans,): the mean over the questions of the squared difference from the full model, in the first measure."""
    questions: int

    def row(self, place: int) -> dict[str, float]:
        """One plan's figures."""
        return {name: float(values[place]) for name, values in self.columns.items()}

    def together(self, others: Figures) -> Figures:
        """The same plans, over the questions of both."""
        total = self.questions + others.questions
        columns = {
            name: (self.questions * values + others.questions * others.columns[name]) / total
            for name, values in self.columns.items()
        }
        squared = (self.questions * self.squared + others.questions * others.squared) / total
        return Figures(self.plans, columns, squared, total)

    def error(self, measure: str, full: float) -> Values:
        """The standard error of what each plan loses of the full model's value, (plans,)."""
        loss = full - self.columns[measure]
        return np.asarray(np.sqrt(np.maximum(self.squared - loss**2, 0) / max(self.questions - 1, 1)))


def replay(
    scores: ExitScores, plans: Sequence[Plan], measures: Sequence[str] = DEFAULT_MEASURES, *, each: Each | None = None
) -> Figures:
    """The figures that `evaluate` finds on a run with each plan, and the mean of `Ranking.relative_cost`.

    `each` is called with 1 after every question, for a progress bar.
    """
    if not scores.questions:
        raise CascadaError("There are no questions with candidates.")
    sizes = _by_size(scores.questions)
    settings = Settings(plans, most=max(sizes))
    sums = {name: np.zeros(len(plans)) for name in (COST, SQUARED, *measures)}
    for candidates, questions in sizes.items():
        kept = settings.kept(candidates)
        sums[COST] += len(questions) * relative_cost(scores, kept, candidates)
        tree = tree_of(kept)
        for name, values in _measured(questions, tree, measures, each).items():
            sums[name] += values[tree.leaf]
    count = len(scores.questions)
    means = {name: values / count for name, values in sums.items()}
    return Figures(tuple(plans), means, means.pop(SQUARED), count)


def relative_cost(scores: ExitScores, kept: Ints, candidates: int | Ints) -> Values:
    """Layers run, over those of running all candidates to the end, where `kept` (rows, exits - 1) stay: (rows,)."""
    if not scores.full:
        return np.ones(len(kept))
    later = kept @ np.array(scores.layers[1:], np.int64)
    return np.asarray((scores.layers[0] * candidates + later) / (scores.full * candidates))


def _by_size(questions: Sequence[Question]) -> dict[int, list[Question]]:
    """Questions with as many candidates keep as many at every exit, so they share a tree."""
    sizes: dict[int, list[Question]] = defaultdict(list)
    for question in questions:
        sizes[question.candidates].append(question)
    return sizes


def _measured(
    questions: Sequence[Question], tree: Tree, measures: Sequence[str], each: Each | None
) -> dict[str, Values]:
    """Sums over the questions, (leaves,)."""
    sums = {name: np.zeros(tree.leaves) for name in (SQUARED, *measures)}
    for question in questions:
        correct = np.flatnonzero(question.labels >= 1)
        places = _places(question, tree, correct)
        for name in measures:
            values = values_of(name, places, question.labels[correct])
            sums[name] += values
            if name == measures[0]:
                full = values_of(name, _full_places(question, correct), question.labels[correct])
                sums[SQUARED] += (values - full) ** 2
        if each:
            each(1)
    return sums


def _places(question: Question, tree: Tree, wanted: Ints) -> Places:
    """Where the wanted candidates stand, from 1: who stayed longest first, then by score, then as trec_eval does."""
    last = last_exits(question.scores, tree)  # (leaves, candidates)
    ranks = _trec_ranks(question)[last, np.arange(question.candidates)]
    keys = ranks - last.astype(np.int32) * question.candidates  # no two are equal
    places = np.empty((tree.leaves, len(wanted)), np.int64)
    for column, one in enumerate(wanted):  # counting beats sorting, since few candidates are correct
        places[:, column] = (keys <= keys[:, [one]]).sum(axis=1)
    return places


def _full_places(question: Question, wanted: Ints) -> Places:
    """The same where everyone stays to the end, (1, wanted)."""
    return _trec_ranks(question)[-1:, wanted].astype(np.int64) + 1


def _trec_ranks(question: Question) -> Ints:
    """Each candidate's rank at each exit, (exits, candidates); of equal scores the greater id stands first."""
    by_id = sorted(range(question.candidates), key=lambda one: question.ids[one].encode(), reverse=True)
    id_ranks = np.argsort(by_id)
    orders = np.stack([np.lexsort((id_ranks, -scores)) for scores in question.scores])
    return np.argsort(orders, axis=1).astype(np.int32)
