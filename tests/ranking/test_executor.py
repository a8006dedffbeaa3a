"""The executor, on stages whose scores are known: who is scored, who leaves, in what order they come out."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascada.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.bm25 import BM25Stage
from cascada.ranking.executor import execute
from cascada.ranking.stage import Pairs, Scored


@dataclass(frozen=True)
class Carried:
    """What the stages hand on: for each pair, how many stages it has been through, and who it is."""

    seen: np.ndarray
    names: tuple[str, ...]

    def take(self, rows):
        return Carried(self.seen[rows], tuple(self.names[row] for row in rows))


class TableStage:
    """Looks the score of a candidate up by its text; a candidate's text is its name."""

    def __init__(self, place, scores, *, layers=1, exit=None):
        self.place = place
        self.scores = scores
        self.layers = layers
        self.exit = place + 1 if exit is None else exit
        self.scored = 0

    def score(self, pairs, state):
        state = state or Carried(np.zeros(len(pairs), int), tuple(pairs.texts))
        assert state.names == tuple(pairs.texts), "the state that was handed on belongs to other candidates"
        assert (state.seen == self.place).all()
        self.scored += len(pairs)
        scores = np.array([self.scores[text][self.place] for text in pairs.texts], np.float32)
        truncated = np.array([text.endswith("7") for text in pairs.texts])
        return Scored(scores, Carried(state.seen + 1, state.names), truncated)

    def probability(self, scores):
        return (1 / (1 + np.exp(-scores))).astype(np.float32)


@dataclass(frozen=True)
class Case:
    groups: list[list[tuple[float, ...]]]
    """For each question, each candidate's score at every stage."""
    plan: list[str]
    layers: list[int]

    @property
    def names(self):
        return [[f"{q}-{c}" for c in range(len(group))] for q, group in enumerate(self.groups)]

    def stages(self):
        rows = zip(self.names, self.groups, strict=True)
        scores = {name: row for names, group in rows for name, row in zip(names, group, strict=True)}
        return [TableStage(place, scores, layers=layers) for place, layers in enumerate(self.layers)]

    def run(self, stages=None):
        texts = [name for names in self.names for name in names]
        owner = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        pairs = Pairs([f"question {q}" for q in range(len(self.groups))], texts, owner)
        return execute(stages or self.stages(), pairs, [Decimal(ratio) for ratio in self.plan])


@st.composite
def cases(draw, questions=1):
    stages = draw(st.integers(1, 4))
    score = st.integers(-3, 3).map(float)  # few values, so that ties are common
    group = st.lists(st.tuples(*[score] * stages), min_size=1, max_size=12)
    count = draw(st.integers(questions, 5))
    groups = draw(st.lists(group, min_size=count, max_size=count))
    plan = draw(st.lists(st.sampled_from(["0", "0.1", "0.3", "0.5", "0.9"]), min_size=stages - 1, max_size=stages - 1))
    return Case(groups, plan, draw(st.lists(st.integers(0, 6), min_size=stages, max_size=stages)))


def by_the_rule(group, plan):
    """One question, by the rule as it is written: the order, and the stage at which each one left."""
    alive, left = list(range(len(group))), {}
    for stage in range(len(group[0])):
        alive.sort(key=lambda index: (-group[index][stage], index))
        ratio = Fraction(plan[stage]) if stage < len(plan) else Fraction(0)
        keep = len(alive) - floor(ratio * len(alive))
        left.update(dict.fromkeys(alive, stage))
        alive = alive[:keep]
    return sorted(left, key=lambda index: (-left[index], -group[index][left[index]], index)), left


@given(cases())
@settings(deadline=None)
def test_every_candidate_is_ranked_once_by_the_stage_it_left_at_then_its_score_then_its_place(case):
    for group, outcome in zip(case.groups, case.run(), strict=True):
        order, left = by_the_rule(group, case.plan)
        assert outcome.order.tolist() == order
        assert outcome.stage.tolist() == [left[index] for index in range(len(group))]


@given(cases())
@settings(deadline=None)
def test_a_candidate_keeps_the_last_score_it_got(case):
    for group, outcome in zip(case.groups, case.run(), strict=True):
        last = [scores[stage] for scores, stage in zip(group, outcome.stage, strict=True)]
        assert outcome.raw.tolist() == last
        np.testing.assert_allclose(outcome.probability, 1 / (1 + np.exp(-np.array(last))), rtol=1e-6)


@given(cases())
@settings(deadline=None)
def test_the_cost_is_what_was_run(case):
    stages = case.stages()
    outcomes = case.run(stages)
    assert sum(outcome.layers_run for outcome in outcomes) == sum(stage.layers * stage.scored for stage in stages)
    for outcome in outcomes:
        spent = np.cumsum(case.layers)[outcome.stage]  # each one ran every stage up to the one it left at
        assert outcome.layers_run == spent.sum()


@given(cases(questions=2))
@settings(deadline=None)
def test_a_question_ranked_alone_comes_out_as_among_others(case):
    for group, among in zip(case.groups, case.run(), strict=True):
        (alone,) = Case([group], case.plan, case.layers).run()
        for field in ("order", "raw", "probability", "stage"):
            assert getattr(alone, field).tolist() == getattr(among, field).tolist()
        assert alone.layers_run == among.layers_run


def test_a_truncated_text_is_reported_for_its_candidate():
    (outcome,) = Case([[(float(c % 4), 0.0) for c in range(20)]], ["0.5"], [1, 1]).run()
    assert np.flatnonzero(outcome.truncated).tolist() == [7, 17]


def test_the_caller_order_of_mixed_questions_does_not_matter():
    """Pairs of different questions may stand interleaved."""
    scores = {"a": (2.0,), "b": (1.0,), "c": (3.0,)}
    pairs = Pairs(["first", "second"], ["a", "b", "c"], np.array([1, 0, 1]))
    first, second = execute([TableStage(0, scores)], pairs, [])
    assert (first.order.tolist(), second.order.tolist()) == ([0], [1, 0])


# The cascade of the paper: twelve layers, exits after 4, 6, 8, 10 and 12, 128 candidates

ORACLES = {
    0.3: ([128, 90, 63, 45, 32], 972),
    0.4: ([128, 77, 47, 29, 18], 854),
    0.5: ([128, 64, 32, 16, 8], 752),
}


@pytest.mark.parametrize(("drop", "survivors", "cost"), [(drop, *oracle) for drop, oracle in ORACLES.items()])
def test_survivors_and_cost_are_the_papers(drop, survivors, cost):
    rng = np.random.default_rng(0)
    scores = {str(name): tuple(rng.normal(size=5)) for name in range(128)}
    stages = [TableStage(place, scores, layers=4 if place == 0 else 2) for place in range(5)]
    ranking = Ranker(stages, full_layers=12).rank("who?", list(scores), drop=drop)
    assert [stage.scored for stage in stages] == survivors
    assert ranking.relative_cost == cost / (12 * 128)


@pytest.mark.parametrize(("drop", "cost"), [(0.3, 1.556), (0.4, 1.208), (0.5, 0.917)])
def test_a_sequential_ranker_pays_for_whole_models(drop, cost):
    scores = {str(name): (float(name),) * 5 for name in range(128)}
    stages = [TableStage(place, scores, layers=layers) for place, layers in enumerate((4, 6, 8, 10, 12))]
    ranking = Ranker(stages, full_layers=12).rank("who?", list(scores), drop=drop)
    assert ranking.relative_cost == pytest.approx(cost, abs=5e-4)


def test_scores_that_are_not_numbers_are_refused():
    class Broken(BM25Stage):
        def score(self, pairs, state):
            return Scored(np.full(len(pairs), np.nan, np.float32))

    with pytest.raises(CascadaError, match="not numbers"):
        Ranker([Broken()], full_layers=0).rank("a", ["b"])
