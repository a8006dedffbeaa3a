"""Rankings as TREC runs: numbers that keep the order and the ties, also as the 32-bit floats trec_eval reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.data import Candidate, Group
from cascada.ranking import Item, Ranker, Ranking
from cascada.ranking.inputs import RankOptions
from cascada.ranking.runs import RunCosts, run_of, run_scores

FLOAT32 = st.floats(allow_nan=False, allow_infinity=False, width=32)


def ranking_of(rows):
    """A ranking of candidates given as (number of stages they came through, last raw score)."""
    items = [Item("", 0.0, raw, index, 4, (0.0,) * (n - 1) + (raw,), False, "") for index, (n, raw) in enumerate(rows)]
    return Ranking("who?", tuple(items), 1.0)


def ranked(rows):
    return sorted(rows, key=lambda row: (-row[0], -row[1]))


@given(st.lists(st.tuples(st.integers(1, 3), FLOAT32), min_size=1))
def test_numbers_fall_with_the_ranking_and_are_equal_only_for_equals(rows):
    rows = ranked(rows)
    numbers = np.array(run_scores(ranking_of(rows)), np.float32)
    for place in range(1, len(rows)):
        if rows[place] == rows[place - 1]:
            assert numbers[place] == numbers[place - 1]
        else:
            assert numbers[place] < numbers[place - 1]


@given(st.lists(FLOAT32, min_size=1))
def test_one_exits_numbers_are_its_raw_scores(raw):
    raw = sorted(raw, reverse=True)
    assert run_scores(ranking_of([(4, score) for score in raw])) == raw


def test_two_models_with_the_same_exit_are_distinguished_by_the_order():
    """A first model's survivors stand above those it dropped, whatever numbers the second gave them."""
    numbers = run_scores(ranking_of([(2, 0.9), (2, -3.0), (1, 0.9), (1, 0.9), (1, 0.2)]))
    assert numbers == [3.0, 2.0, 1.0, 1.0, 0.0]
    assert run_scores(ranking_of([(2, 0.9), (1, 0.9)])) == [1.0, 0.0]


def groups(words):
    return [
        Group(
            question=words[question],
            candidates=tuple(Candidate(words[place] + words[question], 0, id=f"d{place}") for place in range(9)),
            id=f"q{question}",
        )
        for question in range(3)
    ]


def test_a_run_holds_every_candidate_of_every_question_in_the_rankers_order(cascade_folder, words):
    ranker, asked, seen = Ranker.load(cascade_folder), groups(words), []
    run = run_of(ranker, asked, RankOptions.of(drop=0.5), on_ranking=lambda _, ranking: seen.append(ranking))
    assert list(run) == ["q0", "q1", "q2"]
    for group, ranking in zip(asked, seen, strict=True):
        order = [group.candidates[item.index].id for item in ranking]
        assert sorted(run[group.id], key=lambda name: -run[group.id][name]) == order
        assert len(order) == 9


def test_a_question_without_candidates_is_not_in_the_run():
    groups = [Group("what?", (), id="a"), Group("who?", (Candidate("x", id="b-0"),), id="b")]
    assert run_of(Ranker.load("bm25"), groups) == {"b": {"b-0": 0.0}}


def test_candidates_below_the_min_score_are_not_in_the_run(words):
    everything, nothing = (
        run_of(Ranker.load("bm25"), groups(words), RankOptions.of(min_score=score)) for score in (0, 1)
    )
    assert [len(scores) for scores in everything.values()] == [9, 9, 9]
    assert nothing == {"q0": {}, "q1": {}, "q2": {}}


def test_costs_are_averaged_over_the_questions(cascade_folder, words):
    costs = RunCosts()
    run_of(Ranker.load(cascade_folder), groups(words), RankOptions.of(keep=[3]), on_ranking=costs.add)
    assert costs.means()["relative_cost"] == pytest.approx((2 * 9 + 2 * 3) / (4 * 9))
    assert costs.means().keys() == {"relative_cost", "relative_cost_p95", "flops_share", "calibration_error"}


def test_the_95th_percentile_of_the_costs_stands_beside_their_mean():
    costs = RunCosts()
    for cost in [0.1] * 18 + [0.5, 1.0]:
        costs.add(Group("who?", ()), Ranking("who?", (), cost))
    means = costs.means()
    assert means["relative_cost"] == pytest.approx(0.165)
    assert means["relative_cost_p95"] == pytest.approx(0.525)


def test_a_ranker_that_counts_no_operations_has_only_a_relative_cost(words):
    costs = RunCosts()
    run_of(Ranker.load("bm25"), groups(words), on_ranking=costs.add)
    assert costs.means() == {"relative_cost": 1.0, "relative_cost_p95": 1.0}
    assert RunCosts().means() == {}
