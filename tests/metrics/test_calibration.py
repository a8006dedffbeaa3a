"""Calibration: the error's arithmetic, and the line that takes scores to probabilities."""

import numpy as np
import pytest
from scipy.optimize import minimize

from cascada.core.errors import CascadaError
from cascada.metrics.calibration import calibration_error, fit_line


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def test_the_error_is_the_gap_of_each_bin_by_its_candidates():
    probabilities = np.array([0.1, 0.2, 0.9, 1.0])
    labels = np.array([False, True, True, False])
    # with two bins: the lower says 0.15 and has a half right, the upper says 0.95 and has a half right
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
def test_the_line_that_made_the_labels_is_found_again(scale, shift):
    rng = np.random.default_rng(1)
    scores = rng.normal(-2, 3, 40_000)
    line = fit_line(scores, rng.random(40_000) < sigmoid(scale * scores + shift))
    assert line.scale == pytest.approx(scale, rel=0.1)
    assert line.shift == pytest.approx(shift, abs=0.2)


def test_it_is_the_likeliest_line():
    rng = np.random.default_rng(2)
    scores, labels = rng.normal(0, 50, 60), rng.random(60) < 0.3
    labels[scores > 60] = True
    targets = np.where(labels, (labels.sum() + 1) / (labels.sum() + 2), 1 / (60 - labels.sum() + 2))
    found = minimize(
        lambda at: (np.logaddexp(0, at[0] * scores + at[1]) - targets * (at[0] * scores + at[1])).sum(), [0.0, 0.0]
    )
    line = fit_line(scores, labels)
    assert [line.scale, line.shift] == pytest.approx(list(found.x), rel=1e-3, abs=1e-4)


def test_scores_without_a_mistake_get_a_finite_line():
    line = fit_line(np.array([-900.0, -800.0, 700.0, 1000.0]), np.array([False, False, True, True]))
    assert 0 < line.scale < 1


@pytest.mark.parametrize("labels", [[True, True], [False, False]])
def test_both_kinds_of_candidates_are_needed(labels):
    with pytest.raises(CascadaError, match="right and candidates that are wrong"):
        fit_line(np.array([1.0, 2.0]), np.array(labels))


def test_scores_that_point_the_wrong_way_are_told():
    with pytest.raises(CascadaError, match="not likelier to be right"):
        fit_line(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, False]))
