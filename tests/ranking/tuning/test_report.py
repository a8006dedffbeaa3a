"""What a terminal shows of a tuning."""

import io
from dataclasses import replace

import pytest
from rich.console import Console
from score_tables import learning

from cascada.ranking.plan import with_least
from cascada.ranking.tuning import default_grid, grid_of, tune, tune_keeping_best, within_budget
from cascada.ranking.tuning.report import ROWS, report

SCORES = learning(80, 30, exits=4)


def shown(tuning):
    console = Console(file=io.StringIO(), width=200)
    for part in report(tuning):
        console.print(part, highlight=False, markup=False)
    return console.file.getvalue().splitlines()


def test_a_long_front_is_thinned_to_both_its_ends_and_some_between():
    tuning = tune(SCORES, default_grid(4), within_budget(0.6, "MAP"))
    assert len(tuning.front) > ROWS
    listed = [line.split() for line in shown(tuning) if line.startswith(" 0")]
    assert ROWS <= len(listed) <= ROWS + 1
    for place, row in ((tuning.front[0], listed[0]), (tuning.front[-1], listed[-1])):
        assert row[:3] == [f"{float(rule):g}" for rule in tuning.settings.plans[place]]
        assert row[4] == f"{tuning.settings.columns['MAP'][place]:.4f}"


def test_single_exits_and_the_full_model_are_listed_below_the_front():
    text = "\n".join(shown(tune(SCORES, default_grid(4), within_budget(0.6, "MAP"))))
    assert all(f"all stop at {exit}" in text for exit in (1, 2, 3))
    assert "full model" in text


def test_bm25_in_front_and_exit_0_have_names_of_their_own():
    tuning = tune(replace(SCORES, exits=("start", 0, 2, 4)), default_grid(4), within_budget(0.6, "MAP"))
    text = "\n".join(shown(tuning))
    assert "exits start 0 2 4," in text
    assert "drop after start 0 2" in text
    assert [row["exit"] for row in tuning.to_dict()["single_exits"]] == ["start", 0, 2, 4]


def test_a_full_model_that_is_worse_than_bm25_in_front_of_it_is_the_news():
    questions = tuple(replace(question, scores=question.scores[[3, 1, 2, 0]]) for question in SCORES.questions)
    tuning = tune(
        replace(SCORES, exits=("start", 2, 3, 4), questions=questions), default_grid(4), within_budget(1, "MAP")
    )
    said = " ".join(" ".join(shown(tuning)).split())
    assert "The full model is worse than BM25 in front of it: MAP " in said
    assert "cascada cut" not in said


@pytest.mark.parametrize(
    ("least", "said"), [((60, 20, 5), "60, 20, 5"), ((20, 20, 20), "20"), ((20, 1, 1), "20, 1, 1")]
)
def test_the_least_numbers_that_stay_are_all_shown_if_they_differ(least, said):
    plans = [with_least(plan, least) for plan in grid_of([0.5], 4)]
    text = " ".join(" ".join(shown(tune(SCORES, plans, within_budget(1, "MAP")))).split())
    assert f"Chosen: drop 0.5 0.5 0.5 (at least {said} stay)" in text


def test_a_guarantee_is_one_sentence():
    tuning = tune_keeping_best(SCORES, default_grid(4), at_least=0.8, confidence=0.9)
    lines = shown(tuning)
    assert lines[-1] == str(tuning.chosen.certificate)
    assert any(line.startswith("Chosen: keep ") for line in lines)


def test_the_cost_of_margins_is_told_with_its_95th_percentile():
    tuning = tune_keeping_best(SCORES, default_grid(4), at_least=0.8, confidence=0.9, margins=True)
    lines = shown(tuning)
    assert any(line.startswith("Chosen: margin ") for line in lines)
    header = next(line for line in lines if "questions" in line and "cost" in line).split()
    assert header[:4] == ["questions", "cost", "95", "%"]
    checked = next(line for line in lines if line.startswith(" checked on")).split()
    assert checked[4] == f"{tuning.chosen.checked_on.chosen['relative_cost_p95']:.3f}"


def test_a_full_model_that_is_worse_than_its_own_early_exit_is_the_news():
    """A model whose last layers are not trained: the scores of its last exit are those of its first."""
    questions = tuple(replace(question, scores=question.scores[[1, 2, 3, 0]]) for question in SCORES.questions)
    untrained = replace(SCORES, questions=questions)
    tuning = tune(untrained, default_grid(4), within_budget(0.6, "MAP"))
    full, best = tuning.full["MAP"], tuning.single_exits[3]["MAP"]
    assert tuning.to_dict()["better_exit"] == 3
    said = " ".join(" ".join(shown(tuning)).split())
    assert f"The full model is worse than its own exit 3: MAP {full:.4f} against {best:.4f}." in said
    assert said.endswith("keep that exit alone: `cascada cut MODEL OUT --exits 3`.")
    trained = tune(SCORES, default_grid(4), within_budget(0.6, "MAP"))
    assert trained.better_exit is None
    assert not any("worse" in line for line in shown(trained))
