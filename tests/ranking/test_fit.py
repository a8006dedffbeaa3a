"""drop="fit": the smallest drops that are expected to meet the deadline, from what the stages took so far."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_stages import Case, Clock, SlowStage, TableStage

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.executor import Step
from cascada.ranking.fit import RATIOS, SPARE, Fit, Rate, Speeds
from cascada.ranking.stage import Deadline

STAGES = 4


class Steady(SlowStage):
    """All texts are of one length, and a stage of one layer takes 10 ms for each."""

    def flops(self, tokens):
        return 10 * self.layers * (tokens > 0)


def ranker_of(count, clock, kind=Steady):
    case = Case([[(float(i),) * STAGES for i in range(count)]], ["0"] * (STAGES - 1), [1] * STAGES)
    return Ranker(case.stages(kind, clock=clock)), case.names[0]


def counts(ranking):
    return [stage.candidates for stage in ranking.stages]


def spent(ratio, count):
    """Milliseconds of a ranking with one ratio at every exit."""
    total = 0
    for _ in range(STAGES):
        total += 10 * count
        count -= int(Decimal(ratio) * count)
    return total


@given(st.integers(1, 60), st.sampled_from(RATIOS), st.booleans())
@settings(max_examples=40)
def test_the_smallest_ratio_that_fits_is_taken(count, ratio, known):
    """At an even pace the forecast is exact, so later exits find no reason to change what the first one chose."""
    clock = Clock()
    with clock.ticking():
        ranker, texts = ranker_of(count, clock)
        if known:
            ranker.rank("who?", texts)
        first = 10 * count
        limit = first + (spent(ratio, count) - first) / SPARE + 0.01
        ranking = ranker.rank("who?", texts, drop="fit", deadline_ms=limit)
    assert ranking.complete
    assert sum(counts(ranking)) * 10 <= limit
    smallest = next(one for one in RATIOS if spent(one, count) <= spent(ratio, count))
    assert counts(ranking)[1] == count - int(smallest * count)


@given(st.integers(1, 40), st.floats(1, 3000))
@settings(max_examples=40)
def test_any_deadline_is_met_and_all_candidates_are_ranked(count, deadline_ms):
    clock = Clock()
    with clock.ticking():
        ranker, texts = ranker_of(count, clock)
        started = clock.now
        ranking = ranker.rank("who?", texts, drop="fit", deadline_ms=deadline_ms)
        took = 1000 * (clock.now - started)
    assert sorted(item.index for item in ranking) == list(range(count))
    assert took <= max(deadline_ms, 10 * count) + 10 + 1e-6, "the first stage, or the deadline and one batch more"


def test_with_enough_time_no_candidates_are_dropped():
    clock = Clock()
    with clock.ticking():
        ranker, texts = ranker_of(20, clock)
        assert counts(ranker.rank("who?", texts, drop="fit", deadline_ms=60_000)) == [20] * STAGES


def test_a_machine_that_slows_down_is_answered_at_the_next_exit():
    class Tiring(Steady):
        def work(self, text, deadline):
            super().work(text, deadline)
            self.clock.now += 0.03 * (self.place == 1)  # as if another process had come

    clock = Clock()
    with clock.ticking():
        even, texts = ranker_of(40, clock)
        tired, _ = ranker_of(40, clock, Tiring)
        assert counts(even.rank("who?", texts, drop="fit", deadline_ms=2600)) == [40, 40, 40, 40]
        assert counts(tired.rank("who?", texts, drop="fit", deadline_ms=2600)) == [40, 40, 8, 8]


def test_a_stage_of_unknown_speed_first_runs_on_few_candidates_and_is_known_from_then_on():
    """BM25 counts neither tokens nor operations: what comes after it is unknown until it has run once."""

    class Wordless(TableStage):
        def score(self, pairs, state, deadline):
            scored = super().score(pairs, state, deadline)
            return type(scored)(scored.scores, scored.state)

        def flops(self, tokens):
            return 0 * tokens

    clock = Clock()
    scores = {str(name): (float(name), 0.0) for name in range(100)}
    ranker = Ranker([Wordless(0, scores), Steady(1, scores, clock=clock)], full=1)
    with clock.ticking():
        assert counts(ranker.rank("who?", list(scores), drop="fit", deadline_ms=700)) == [100, 10]
        assert counts(ranker.rank("who?", list(scores), drop="fit", deadline_ms=700)) == [100, 60]


def test_what_was_measured_is_the_median_of_the_last_runs():
    speeds = Speeds(1)
    case = Case([[(1.0,), (2.0,)]], [], [1])
    for slow in (900, 1, 1, 2, 3):
        (outcome,) = case.run()
        outcome.seconds[:] = slow
        outcome.flops[:] = 4
        speeds.learn([outcome])
    assert speeds.rate(0) == Rate(per_flop=0.5, per_candidate=1.0)


def test_nothing_is_known_of_a_stage_that_never_ran():
    assert Speeds(2).rate(1) is None


def test_when_nothing_fits_the_largest_ratio_is_taken():
    ranker, texts = ranker_of(10, Clock())
    fit = Fit(ranker.stages, Speeds(STAGES), Deadline.after(0))
    assert fit(Step(0, np.ones(len(texts), np.int64), 1.0)) == RATIOS[-1]


def test_eight_threads_may_measure_and_fit_at_once():
    ranker = Ranker.load("bm25")
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(ranker.rank, "a", ["a", "b"], drop="fit", deadline_ms=1000) for _ in range(200)]
    assert all(job.result().complete for job in jobs)


def test_a_ranker_that_has_measured_can_still_be_pickled():
    ranker = Ranker.load("bm25")
    ranker.rank("a", ["a", "b"])
    assert pickle.loads(pickle.dumps(ranker)).rank("a", ["b", "a"])[0].index == 1


# A user's mistakes


@pytest.mark.parametrize("settings", [{}, {"deadline_ms": None}])
def test_fit_needs_a_deadline(settings):
    with pytest.raises(CascadaError, match='drop="fit" chooses drops to meet deadline_ms, and none was given'):
        Ranker.load("bm25").rank("who?", ["text"], drop="fit", **settings)


def test_fit_is_for_one_question():
    ranker = Ranker.load("bm25")
    with pytest.raises(CascadaError, match="deadline_ms"):
        list(ranker.rank_many([("who?", ["text"])], drop="fit"))
    with pytest.raises(CascadaError, match="deadline_ms"):
        ranker.score("who?", ["text"], drop="fit")


def test_other_words_are_no_drop():
    with pytest.raises(CascadaError, match="drop is 'fast'; it must be a number, a list of numbers, or \"fit\""):
        Ranker.load("bm25").rank("who?", ["text"], drop="fast", deadline_ms=5)
