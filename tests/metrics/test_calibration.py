"""Calibration: the error's arithmetic, and Platt scaling of scores to probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize

from cascada.core.errors import CascadaError
from cascada.metrics.calibration import calibration_error, fit_platt_scaling


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def test_the_error_is_the_gap_of_each_bin_by_its_candidates():
    probabilities = np.array([0.1, 0.2, 0.9, 1.0])
    labels = np.array([False, True, True, False])
    # two bins: half of each is correct, and their mean probabilities are 0.15 and 0.95
    assert calibration_error(probabilities, labels, bins=2) == pytest.approx(0.5 * 0.35 + 0.5 * 0.45)


def test_a_slow_reference_agrees():
    rng = np.random.default_rng(0)
    probabilities = rng.random(500)
    labels = rng.random(500) < probabilities**2
    gaps = []
    for low in np.arange(10) / 10:
        inside = (probabilities >= low) & ((probabilities < low + 0.1) | (low > 0.85))
        gaps.append(inside.sum() / 500 * abs(probabilities[inside].mean() - labels[inside].mean()))
    assert calibration_error(probabilities, labels) == pytest.approx(sum(gaps))


@pytest.mark.parametrize(("scale", "shift"), [(0.3, -1.0), (2.5, 4.0), (1.0, 0.0)])
def test_the_map_that_made_the_labels_is_recovered(scale, shift):
    rng = np.random.default_rng(1)
    scores = rng.normal(-2, 3, 40_000)
    scaling = fit_platt_scaling(scores, rng.random(40_000) < sigmoid(scale * scores + shift))
    assert scaling.scale == pytest.approx(scale, rel=0.1)
    assert scaling.shift == pytest.approx(shift, abs=0.2)


def test_it_maximises_the_likelihood():
    rng = np.random.default_rng(2)
    scores, labels = rng.normal(0, 50, 60), rng.random(60) < 0.3
    labels[scores > 60] = True
    targets = np.where(labels, (labels.sum() + 1) / (labels.sum() + 2), 1 / (60 - labels.sum() + 2))
    found = minimize(
        lambda at: (np.logaddexp(0, at[0] * scores + at[1]) - targets * (at[0] * scores + at[1])).sum(), [0.0, 0.0]
    )
    scaling = fit_platt_scaling(scores, labels)
    assert [scaling.scale, scaling.shift] == pytest.approx(list(found.x), rel=1e-3, abs=1e-4)


def test_scores_that_separate_the_labels_get_a_finite_map():
    scaling = fit_platt_scaling(np.array([-900.0, -800.0, 700.0, 1000.0]), np.array([False, False, True, True]))
    assert 0 < scaling.scale < 1


@pytest.mark.parametrize("labels", [[True, True], [False, False]])
def test_both_kinds_of_candidates_are_needed(labels):
    with pytest.raises(CascadaError, match="Calibration needs correct and incorrect candidates"):
        fit_platt_scaling(np.array([1.0, 2.0]), np.array(labels))


def test_scores_in_the_reverse_order_are_rejected():
    with pytest.raises(CascadaError, match="not more likely to be correct"):
        fit_platt_scaling(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, False]))
