"""The executor, on stages with known scores: which candidates are scored and dropped, and in which order they end."""

import numpy as np
import pytest
from hypothesis import given, settings
from table_stages import Case, Clock, SlowStage, TableStage, by_the_rule, cases

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.executor import execute
from cascada.ranking.stage import Pairs, Scored
from cascada.systems.bm25.stages import BM25Stage


def seen(outcome):
    """How many candidates each stage scored."""
    return np.isfinite(outcome.scores).sum(1)


@given(cases())
@settings(max_examples=50)
def test_candidates_are_ranked_by_the_stage_they_reached_then_by_score_then_by_position(case):
    for group, outcome in zip(case.groups, case.run(), strict=True):
        order, left = by_the_rule(group, case.plan)
        assert outcome.order.tolist() == order
        assert outcome.stage.tolist() == [left[index] for index in range(len(group))]


@given(cases())
@settings(max_examples=50)
def test_a_candidate_keeps_its_last_score(case):
    for group, outcome in zip(case.groups, case.run(), strict=True):
        last = [scores[stage] for scores, stage in zip(group, outcome.stage, strict=True)]
        assert outcome.raw.tolist() == last
        np.testing.assert_allclose(outcome.probability, 1 / (1 + np.exp(-np.array(last))), rtol=1e-6)


@given(cases())
@settings(max_examples=50)
def test_a_candidate_has_a_score_at_every_stage_it_reached_and_at_no_other(case):
    for group, outcome in zip(case.groups, case.run(), strict=True):
        for index, scores in enumerate(group):
            reached = outcome.stage[index] + 1
            assert outcome.scores[:reached, index].tolist() == list(scores[:reached])
            assert np.isnan(outcome.scores[reached:, index]).all()


@given(cases())
@settings(max_examples=50)
def test_the_cost_is_what_was_run(case):
    stages = case.stages()
    outcomes = case.run(stages)
    assert sum(seen(outcome) for outcome in outcomes).tolist() == [stage.scored for stage in stages]
    assert sum(outcome.flops for outcome in outcomes).tolist() == [stage.spent for stage in stages]
    assert all(outcome.complete for outcome in outcomes)


@given(cases())
@settings(max_examples=50)
def test_the_full_cost_is_what_is_run_without_drops(case):
    without_drops = Case(case.groups, ["0"] * len(case.plan), case.layers).run()
    for outcome, full in zip(case.run(), without_drops, strict=True):
        assert outcome.full_flops.tolist() == full.full_flops.tolist() == full.flops.tolist()


@given(cases(questions=2))
@settings(max_examples=50)
def test_a_question_gets_the_same_result_alone_as_among_others(case):
    for group, among in zip(case.groups, case.run(), strict=True):
        (alone,) = Case([group], case.plan, case.layers).run()
        for field in ("order", "raw", "probability", "stage", "flops", "full_flops"):
            assert getattr(alone, field).tolist() == getattr(among, field).tolist()


@given(cases(questions=2))
@settings(max_examples=50)
def test_the_time_of_a_stage_is_shared_among_the_questions_by_their_operations(case):
    clock = Clock()
    with clock.ticking():  # a thousandth of a second per operation
        outcomes = case.run(case.stages(SlowStage, clock=clock))
    for outcome in outcomes:
        np.testing.assert_allclose(outcome.seconds, outcome.flops / 1000, rtol=1e-5)


def test_the_time_of_a_stage_without_operations_is_shared_by_candidates():
    clock = Clock()
    stage = SlowSilent(0, {"a": (1.0,), "b": (2.0,), "c": (3.0,), "d": (4.0,)})
    stage.clock = clock
    pairs = Pairs(["first", "second"], ["a", "b", "c", "d"], np.array([1, 0, 1, 1]))
    with clock.ticking():
        first, second = execute([stage], pairs, [])
    assert (first.seconds.tolist(), second.seconds.tolist()) == ([0.25], [0.75])


def test_texts_dropped_before_their_tokens_were_counted_are_assumed_to_have_average_length():
    scores = {"a": (3.0, 0.0), "b": (2.0, 0.0), "c": (1.0, 0.0)}
    counting = TableStage(1, scores, layers=2, tokens={"a": 10, "b": 20})
    pairs = Pairs(["who?"], list(scores), np.zeros(3, np.int64))
    (outcome,) = execute([Silent(0, scores), counting], pairs, [2])
    assert outcome.flops.tolist() == [0, 2 * 10**2 + 2 * 20**2 + 2]
    assert outcome.full_flops.tolist() == [0, 2 * 10**2 + 2 * 15**2 + 2 * 20**2 + 3]


class Silent(TableStage):
    """Counts no tokens and no operations, like BM25."""

    def score(self, pairs, state, deadline):
        scored = super().score(pairs, state, deadline)
        return Scored(scored.scores, scored.state)

    def flops(self, tokens):
        return np.zeros_like(tokens)


class SlowSilent(Silent):
    """Takes a quarter of a second per candidate."""

    def work(self, text, deadline):
        self.clock.now += 0.25


def test_a_truncated_text_is_reported_for_its_candidate():
    (outcome,) = Case([[(float(c % 4), 0.0) for c in range(20)]], ["0.5"], [1, 1]).run()
    assert np.flatnonzero(outcome.truncated).tolist() == [7, 17]


def test_pairs_of_different_questions_may_be_interleaved():
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
    ranking = Ranker(stages).rank("who?", list(scores), drop=drop)
    assert [stage.scored for stage in stages] == survivors
    assert ranking.relative_cost == cost / (12 * 128)


@pytest.mark.parametrize(("drop", "cost"), [(0.3, 1.556), (0.4, 1.208), (0.5, 0.917)])
def test_a_sequential_ranker_pays_for_whole_models(drop, cost):
    scores = {str(name): (float(name),) * 5 for name in range(128)}
    stages = [TableStage(place, scores, layers=layers) for place, layers in enumerate((4, 6, 8, 10, 12))]
    ranking = Ranker(stages, full=1).rank("who?", list(scores), drop=drop)
    assert ranking.relative_cost == pytest.approx(cost, abs=5e-4)


def test_scores_that_are_not_numbers_raise_an_error():
    class Broken(BM25Stage):
        def score(self, pairs, state, deadline):
            return Scored(np.full(len(pairs), np.nan, np.float32))

    with pytest.raises(CascadaError, match="not numbers"):
        Ranker([Broken()]).rank("a", ["b"])
