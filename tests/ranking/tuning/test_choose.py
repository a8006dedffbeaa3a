"""The choice: made on one half of the questions, checked on the other."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from score_tables import learning

from cascada.core.errors import CascadaError
from cascada.ranking.tuning import ExitScores, default_grid, grid_of, replay, tune, within_budget, within_loss


@pytest.fixture(scope="module")
def scores():
    """Questions of different sizes."""
    few, many = learning(30, 8), learning(30, 15, seed=1)
    return replace(few, questions=few.questions + many.questions)


PLANS = default_grid(3)


def test_the_budget_is_kept_and_nothing_within_it_is_better(scores):
    chosen = tune(scores, PLANS, within_budget(0.6, "MAP")).chosen
    first, _ = scores.halves(0)
    allowed = replay(scores, PLANS).columns["relative_cost"] <= 0.6 + 1e-9
    assert chosen.figures["relative_cost"] <= 0.6 + 1e-9
    assert chosen.chosen_on.chosen["MAP"] == pytest.approx(replay(first, PLANS).columns["MAP"][allowed].max())


def test_the_loss_is_kept_and_nothing_within_it_is_cheaper(scores):
    chosen = tune(scores, PLANS, within_loss(0.02, "P@1", margin=0), measure="P@1").chosen
    first, _ = scores.halves(0)
    aim = 0.98 * chosen.chosen_on.full["P@1"] - 1e-9
    allowed = replay(first, PLANS).columns["P@1"] >= aim
    assert chosen.chosen_on.chosen["P@1"] >= aim
    cheapest = replay(scores, PLANS).columns["relative_cost"][allowed].min()
    assert chosen.figures["relative_cost"] == pytest.approx(cheapest)


def test_a_loss_has_a_margin_for_chance(scores):
    bold, careful = (tune(scores, PLANS, within_loss(0.1, "MAP", margin=margin)).chosen for margin in (0, 2))
    assert careful.figures["relative_cost"] > bold.figures["relative_cost"]
    lost = careful.chosen_on.full["MAP"] - careful.chosen_on.chosen["MAP"]
    assert lost + 2 * careful.chosen_on.error <= 0.1 * careful.chosen_on.full["MAP"] + 1e-9


def test_the_error_is_that_of_the_questions_differences(scores):
    chosen = tune(scores, PLANS, within_budget(0.6, "MAP")).chosen
    _, second = scores.halves(0)
    nobody = (Decimal(0),) * 2
    alone = [replay(replace(second, questions=(one,)), [chosen.plan, nobody]) for one in second.questions]
    differences = np.array([one.row(1)["MAP"] - one.row(0)["MAP"] for one in alone])
    assert differences.any()
    assert chosen.checked_on.error == pytest.approx(differences.std(ddof=1) / np.sqrt(len(differences)))


def test_what_it_is_checked_on_has_no_part_in_the_choice(scores):
    """Spoil every label of the other half: the same plan is chosen, and its check says so."""
    _, second = scores.halves(0)
    spoilt = {id(one): replace(one, labels=np.roll(one.labels, 1)) for one in second.questions}
    other = replace(scores, questions=tuple(spoilt.get(id(one), one) for one in scores.questions))
    before, after = (tune(which, PLANS, within_loss(0.01, "MAP")).chosen for which in (scores, other))
    assert after.plan == before.plan
    assert after.chosen_on == before.chosen_on
    assert after.checked_on.chosen["MAP"] < before.checked_on.chosen["MAP"]


def test_the_figures_are_those_of_the_plan_on_each_half_and_on_all(scores):
    chosen = tune(scores, PLANS, within_budget(0.6, "MAP"), seed=4).chosen
    for half, found in zip(scores.halves(4), (chosen.chosen_on, chosen.checked_on), strict=True):
        assert found.questions == 30
        assert found.chosen == replay(half, [chosen.plan]).row(0) | {"relative_cost_p95": _costly(half, chosen.plan)}
        assert found.full["relative_cost"] == 1
    whole = replay(scores, [chosen.plan]).row(0) | {"relative_cost_p95": _costly(scores, chosen.plan)}
    assert chosen.figures == pytest.approx(whole, abs=1e-12)


def _costly(scores, plan):
    return np.percentile(
        [replay(scores.take([row]), [plan]).row(0)["relative_cost"] for row in range(len(scores.questions))], 95
    )


def test_the_error_about_a_budget_that_no_setting_meets_names_the_cheapest(scores):
    with pytest.raises(CascadaError, match=r"No setting costs at most 0\.1: the cheapest of this grid costs 0\."):
        tune(scores, PLANS, within_budget(0.1, "MAP"))


def test_the_error_about_a_loss_that_no_setting_meets_names_the_best(scores):
    with pytest.raises(CascadaError, match="No setting of this grid has MAP within 0 % of the full model's"):
        tune(scores, grid_of([0.9], 3), within_loss(0, "MAP"))


def test_one_question_is_too_few(scores):
    few = ExitScores(scores.exits, scores.layers, scores.full, scores.questions[:1])
    with pytest.raises(CascadaError, match="at least 2 questions"):
        tune(few, PLANS, within_budget(0.6, "MAP"))


def test_json_has_the_front_the_choice_and_both_halves(scores):
    found = tune(scores, PLANS, within_budget(0.6, "MAP")).to_dict()
    assert {"drop", "relative_cost", "MAP", "MRR", "P@1", "nDCG@10"} <= found["front"][0].keys()
    assert found["front"][0]["relative_cost"] < found["front"][-1]["relative_cost"]
    assert found["chosen"]["drop"] != []
    assert found["chosen"]["checked_on"]["full"]["MAP"] > 0
    assert [row["exit"] for row in found["single_exits"]] == [1, 2, 3]
    assert found["settings"] == 49


def test_another_measure_is_reported_with_the_default_ones(scores):
    found = tune(scores, PLANS, within_budget(0.6, "R@3"), measure="r@3").to_dict()
    assert found["measure"] == "R@3"
    assert {"R@3", "MAP"} <= found["chosen"].keys()
