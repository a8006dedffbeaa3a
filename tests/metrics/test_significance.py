"""Two runs compared, and one model over seeds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cascada.core.errors import CascadaError
from cascada.metrics import Evaluation, Spread, compare, over_seeds
from cascada.metrics.significance import randomisation_test


def evaluation(values: list[float]) -> Evaluation:
    return Evaluation({"MAP": {f"q{number}": value for number, value in enumerate(values)}})


@pytest.fixture
def many() -> tuple[Evaluation, Evaluation]:
    draw = np.random.default_rng(3)
    theirs = draw.random(300)
    return evaluation(list(theirs + draw.normal(0.02, 0.2, 300))), evaluation(list(theirs))


def test_a_comparison_worked_by_hand():
    # Differences .1, .2, .3: of the 8 sign flips, only +++ and --- reach a sum of .6.
    found = compare(evaluation([0.6, 0.7, 0.8]), evaluation([0.5, 0.5, 0.5]), "map")
    assert (found.measure, found.questions, found.difference) == ("MAP", 3, pytest.approx(0.2))
    assert found.randomisation_p == 0.25
    assert found.t_p == pytest.approx(stats.ttest_rel([0.6, 0.7, 0.8], [0.5, 0.5, 0.5]).pvalue)


@given(st.lists(st.sampled_from([-1.0, -1 / 3, -0.1, 0.0, 0.1, 0.2, 1 / 3, 0.5]), min_size=1, max_size=8))
def test_few_questions_are_counted_exactly(differences):
    flips = list(product([1, -1], repeat=len(differences)))
    hits = sum(abs(np.dot(signs, differences)) >= abs(sum(differences)) - 1e-9 for signs in flips)
    assert randomisation_test(np.array(differences)) == hits / len(flips)


def test_drawn_flips_agree_with_scipys_permutation_test(many):
    ours = compare(*many, "MAP", rounds=20_000).randomisation_p
    differences = np.subtract(*[list(run.by_question["MAP"].values()) for run in many])
    theirs = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=4000, rng=1)
    assert ours == pytest.approx(theirs.pvalue, abs=0.03)


def test_drawn_flips_agree_with_all_of_them():
    differences = np.random.default_rng(1).normal(0.15, 0.5, 20)
    few_and_exact = randomisation_test(differences)
    # Ten pairs that cancel, next to nothing in size, make the list too long to try every flip.
    drawn = randomisation_test(np.concatenate([differences, np.tile([1e-9, -1e-9], 10)]), rounds=50_000)
    assert drawn == pytest.approx(few_and_exact, abs=0.01)


def test_the_seed_decides_and_nothing_else(many):
    a, b = many
    turned = Evaluation({"MAP": dict(reversed(a.by_question["MAP"].items()))})
    first = compare(a, b, "MAP", seed=1).randomisation_p
    assert compare(turned, b, "MAP", seed=1).randomisation_p == first
    assert compare(a, b, "MAP", seed=2).randomisation_p != first


def test_swapping_the_runs_changes_the_sign_only(many):
    a, b = many
    there, back = compare(a, b, "MAP"), compare(b, a, "MAP")
    assert there.difference == -back.difference
    assert (there.t_p, there.randomisation_p) == pytest.approx((back.t_p, back.randomisation_p))


def test_a_drawn_p_is_never_zero():
    assert randomisation_test(np.ones(200), rounds=99) == 1 / 100


def test_rounds_in_several_helpings_are_all_counted():
    # So many questions leave room for one round at a time; no sum is nearer to 0 than the one observed.
    differences = np.tile([0.5, -0.5], 300_000)
    assert randomisation_test(differences, rounds=3) == 1.0


def test_equal_runs_are_not_different():
    found = compare(evaluation([0.5, 0.25]), evaluation([0.5, 0.25]), "MAP")
    assert (found.difference, found.randomisation_p, found.t_p) == (0.0, 1.0, None)


def test_t_is_not_defined_where_every_question_differs_by_the_same():
    assert compare(evaluation([0.3, 0.4, 0.8]), evaluation([0.2, 0.3, 0.7]), "MAP").t_p is None


def test_different_questions_are_compared_only_when_asked():
    a, b = evaluation([0.1, 0.2, 0.3, 0.4]), evaluation([0.2, 0.2, 0.2])
    with pytest.raises(CascadaError, match=r"1 only in the first, 0 only in the second.*shared=True"):
        compare(a, b, "MAP")
    assert compare(a, b, "MAP", shared=True).questions == 3


def test_what_cannot_be_compared_is_said():
    with pytest.raises(CascadaError, match="P@1 was not measured in both"):
        compare(evaluation([0.1, 0.2]), evaluation([0.1, 0.2]), "P@1")
    with pytest.raises(CascadaError, match="at least 2 questions"):
        compare(evaluation([0.1]), evaluation([0.2]), "MAP")
    with pytest.raises(CascadaError, match="at least 1 round"):
        compare(evaluation([0.1, 0.3]), evaluation([0.2, 0.3]), "MAP", rounds=0)


def test_seeds_have_a_mean_and_a_sample_deviation():
    found = over_seeds([{"MAP": 0.70, "MRR": 0.5}, {"MAP": 0.74, "MRR": 0.5}])
    assert found["MAP"] == Spread(pytest.approx(0.72), pytest.approx(np.std([0.70, 0.74], ddof=1)), 2)
    assert str(found["MRR"]) == "0.5000 ± 0.0000"


def test_one_seed_does_not_spread():
    found = over_seeds([{"MAP": 0.7}])["MAP"]
    assert (found, str(found)) == (Spread(0.7, None, 1), "0.7000")


def test_seeds_must_be_measured_alike():
    with pytest.raises(CascadaError, match="Seed 2 was measured by MRR and the first by MAP"):
        over_seeds([{"MAP": 0.7}, {"MRR": 0.7}])
    with pytest.raises(CascadaError, match="no seeds"):
        over_seeds([])
