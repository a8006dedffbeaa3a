"""What a terminal shows of a tuning."""

import io
from dataclasses import replace

from rich.console import Console
from score_tables import learning

from cascada.ranking.tuning import default_grid, tune, tune_keeping_best, within_budget
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
