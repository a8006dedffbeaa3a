"""A setting that is replayed comes out exactly as if the model had been run with it and measured by trec_eval."""

from decimal import Decimal
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_tables import exit_scores, groups_of, learning, ranker_of, scores_of

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.data import Candidate, Group, qrels
from cascada.metrics import evaluate
from cascada.ranking.plan import Margin
from cascada.ranking.runs import exit_runs, run_of
from cascada.ranking.tuning import collect, grid_of, replay

MEASURES = ("MAP", "MRR", "P@1", "nDCG@10", "P@3", "R@2", "nDCG@3")


def measured(ranker, groups, plan):
    """The slow way: run it, measure it."""
    ranker = Ranker(ranker.stages, full=ranker.full, plan=plan)
    costs = []
    run = run_of(ranker, groups, on_ranking=lambda _, ranking: costs.append(ranking.relative_cost))
    return {"relative_cost": fmean(costs), **evaluate(run, qrels(groups), MEASURES).mean}


def assert_replayed(scores, ranker, groups, plans):
    figures = replay(scores, plans, MEASURES)
    for place, plan in enumerate(plans):
        assert figures.row(place) == pytest.approx(measured(ranker, groups, plan), abs=1e-12)


@given(exit_scores(), st.data())
@settings(max_examples=150)
def test_any_plan_scores_and_costs_what_running_it_would(scores, data):
    ratios = st.sampled_from(["0", "0.1", "0.3", "0.5", "0.9", "0.29"]).map(Decimal)
    margins = st.builds(Margin, st.sampled_from(["0", "0.5", "1", "2", "9"]).map(Decimal), st.integers(1, 4))
    plan = st.tuples(*[ratios | st.integers(1, 10) | margins] * (len(scores.exits) - 1))
    plans = data.draw(st.lists(plan, min_size=1, max_size=6))
    assert_replayed(scores, ranker_of(scores), groups_of(scores), plans)


@given(exit_scores())
def test_collecting_gives_the_scores_of_every_exit(scores):
    found = collect(ranker_of(scores), groups_of(scores))
    assert (found.exits, found.layers, found.full) == (scores.exits, scores.layers, scores.full)
    for one, other in zip(found.questions, scores.questions, strict=True):
        assert one.scores.tolist() == other.scores.tolist()
        assert (one.ids, one.labels.tolist()) == (other.ids, other.labels.tolist())


@pytest.fixture(scope="module")
def groups(words):
    """Questions with 1 to 19 candidates, of which the fourth is correct and others may be."""
    return [
        Group(
            words[number],
            tuple(
                Candidate(f"{words[7 * place + number]} {words[place]}", int(place % 5 == 3), f"{number}-{place}")
                for place in range(2 * number + 1)
            ),
            str(number),
        )
        for number in range(10)
    ]


def test_a_real_cascade_is_replayed_exactly(cascade_folder, groups):
    ranker = Ranker.load(cascade_folder)
    assert_replayed(collect(ranker, groups), ranker, groups, [*grid_of([0, 0.2, 0.35, 0.6, 0.9], 2), (1,), (4,)])


def test_stopping_all_candidates_at_an_exit_gives_that_exits_ranking(cascade_folder, groups):
    ranker = Ranker.load(cascade_folder)
    scores = collect(ranker, groups)
    for place, (exit, run) in enumerate(zip(ranker.exits, exit_runs(ranker, groups), strict=True)):
        found = replay(scores.until(exit), [(Decimal(0),) * place], MEASURES).row(0)
        assert found.pop("relative_cost") == exit / 4
        assert found == pytest.approx(evaluate(run, qrels(groups), MEASURES).mean, abs=1e-12)


def test_a_question_without_a_correct_candidate_counts_as_zero():
    scores = scores_of([[[2, 1], [2, 1]], [[2, 1], [2, 1]]], [[1, 0], [0, 0]])
    assert replay(scores, grid_of([0], 2)).row(0) == {
        "relative_cost": 1, "MAP": 0.5, "MRR": 0.5, "P@1": 0.5, "nDCG@10": 0.5,
    }  # fmt: skip


def test_questions_without_candidates_are_left_out():
    scores = learning(3, 4)
    ranker, groups = ranker_of(scores), groups_of(scores)
    assert len(collect(ranker, [Group("nothing?", (), "x"), *groups]).questions) == 3


def test_both_halves_together_are_the_whole():
    scores = learning(21, 8)
    plans = grid_of([0, 0.5], 3)
    first, second = scores.halves(seed=3)
    assert (len(first.questions), len(second.questions)) == (10, 11)
    assert {id(one) for one in (*first.questions, *second.questions)} == {id(one) for one in scores.questions}
    both, whole = replay(first, plans).merged(replay(second, plans)), replay(scores, plans)
    assert both.questions == 21
    for place in range(len(plans)):
        assert both.row(place) == pytest.approx(whole.row(place), abs=1e-12)


def test_another_seed_halves_otherwise():
    scores = learning(21, 8)
    halves = [{id(one) for one in scores.halves(seed)[0].questions} for seed in (1, 1, 2)]
    assert halves[0] == halves[1] != halves[2]


def test_costs_of_a_sequential_ranker_are_relative_to_its_last_model():
    scores = learning(4, 10, exits=2)
    ranker = Ranker(ranker_of(scores).stages, full=1)
    assert_replayed(collect(ranker, groups_of(scores)), ranker, groups_of(scores), grid_of([0, 0.5], 2))


@pytest.mark.parametrize("exits", [(12,), (4, 4)])
def test_a_ranker_without_exits_to_tune_is_rejected(exits):
    scores = learning(2, 3, exits=len(exits))
    stages = ranker_of(scores).stages
    for stage, exit in zip(stages, exits, strict=True):
        stage.exit = exit
    with pytest.raises(CascadaError, match=r"nothing to tune|cannot be tuned"):
        collect(Ranker(stages), groups_of(scores))
