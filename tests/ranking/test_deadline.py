"""A deadline stops a ranking, which is then as its last finished stage has it: always a complete order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_stages import Case, Clock, SlowStage, by_the_rule, cases

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.stage import Deadline


def finished(stages, case, deadline):
    """Which stages are done by then, by counting: the first one always, a later one if all it does is begun in time."""
    clock, done = 0.0, 0
    for place, stage in enumerate(stages):
        if place and clock > deadline:
            break
        for text in stage.seen:
            if place and clock > deadline:
                return done
            clock += int(stage.flops(case.tokens[text])) / 1000
        done += 1
    return done


class Noting(SlowStage):
    """Also remembers who it was asked to score."""

    def score(self, pairs, state, deadline):
        self.seen = list(pairs.texts)
        return super().score(pairs, state, deadline)


@given(cases(), st.floats(0.001, 60))
@settings(max_examples=50)
def test_with_any_deadline_all_candidates_are_ranked_by_the_last_finished_stage(case, seconds):
    unhurried = case.stages(Noting, clock=Clock())
    case.run(unhurried)
    done = finished(unhurried, case, seconds)
    clock = Clock()
    with clock.ticking():
        outcomes = case.run(case.stages(SlowStage, clock=clock), Deadline.after(seconds))
    for group, outcome in zip(case.groups, outcomes, strict=True):
        order, left = by_the_rule(group, case.plan, stages=done)
        assert outcome.order.tolist() == order
        assert outcome.stage.tolist() == [left[index] for index in range(len(group))]
        assert outcome.complete == (done == len(unhurried))
        assert np.isnan(outcome.scores[done:]).all(), "a stage that was stopped counts for nothing"
        assert not outcome.flops[done:].any()


def rank(deadline_ms):
    """Three candidates, which take 2, 65 and 226 ms at each of two stages; the second turns the order round."""
    clock = Clock()
    case = Case([[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]], ["0"], [1, 1])
    with clock.ticking():
        ranker = Ranker(case.stages(SlowStage, clock=clock))
        return ranker.rank("who?", case.names[0], deadline_ms=deadline_ms), clock.now - 100


def test_the_first_stage_always_finishes():
    ranking, took = rank(0.001)
    assert [item.index for item in ranking] == [2, 1, 0]
    assert [stage.candidates for stage in ranking.stages] == [3, 0]
    assert (ranking.complete, took) == (False, pytest.approx(0.293))


def test_a_stage_that_is_stopped_has_no_say():
    ranking, took = rank(300)
    assert [item.index for item in ranking] == [2, 1, 0]
    assert [item.scores for item in ranking] == [(3.0,), (2.0,), (1.0,)]
    assert (ranking.complete, took) == (False, pytest.approx(0.36))


def test_time_enough_is_as_no_deadline():
    ranking, _ = rank(1000)
    assert ranking == rank(None)[0]
    assert [item.index for item in ranking] == [0, 1, 2]
    assert ranking.complete


def test_a_deadline_that_is_over_stops_a_stage_that_does_not_look():
    class Blind(SlowStage):
        def work(self, text, deadline):
            self.clock.now += 1

    clock = Clock()
    case = Case([[(1.0, 3.0), (2.0, 2.0)]], ["0"], [1, 1])
    with clock.ticking():
        ranking = Ranker(case.stages(Blind, clock=clock)).rank("who?", case.names[0], deadline_ms=500)
    assert [stage.candidates for stage in ranking.stages] == [2, 0]


def test_a_real_cascade_stops_in_time_and_ranks_all_candidates(cascade_folder, words):
    texts = [f"{word} {words[0]}" for word in words]
    ranking = Ranker.load(cascade_folder).rank(words[3], texts, deadline_ms=0.01)
    assert sorted(item.index for item in ranking) == list(range(len(texts)))
    assert {item.exit for item in ranking} == {2}
    assert (ranking.complete, ranking.relative_cost) == (False, 0.5)


@pytest.mark.parametrize("deadline_ms", [0, -1, float("nan"), "200", True, [200]])
def test_a_wrong_deadline_is_rejected_with_one_sentence(deadline_ms):
    with pytest.raises(CascadaError, match=r"deadline_ms is .*; it must be a number above 0\."):
        Ranker.load("bm25").rank("who?", ["text"], deadline_ms=deadline_ms)
