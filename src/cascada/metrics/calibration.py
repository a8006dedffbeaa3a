"""Calibration: of the candidates with score 0.7, seven in ten should be correct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError

Floats = NDArray[np.float64]

BINS = 10


@dataclass(frozen=True)
class PlattScaling:
    """A linear map of logits, scale · score + shift, whose sigmoid is a calibrated probability."""

    scale: float
    shift: float


def calibration_error(probabilities: Floats, labels: NDArray[np.bool_], bins: int = BINS) -> float:
    """Expected calibration error: the gap between a bin's mean probability and its share of correct candidates.

    Bins have equal width, and are weighted by their number of candidates.

    >>> calibration_error(np.array([0.25, 0.25, 0.25, 0.25]), np.array([True, False, False, False]))
    0.0
    """
    bin_of = np.minimum((probabilities * bins).astype(np.int64), bins - 1)  # (candidates,)
    gap = np.bincount(bin_of, probabilities - labels, minlength=bins)  # (bins,)
    return float(np.abs(gap).sum() / len(labels))


def fit_platt_scaling(scores: Floats, labels: NDArray[np.bool_]) -> PlattScaling:
    """Fit the map under which the labels are most likely. It never reverses the order of the scores.

    Platt's smoothed targets keep it finite even if the scores separate the labels perfectly.
    """
    correct = int(labels.sum())
    incorrect = len(labels) - correct
    if not correct or not incorrect:
        raise CascadaError("Calibration needs correct and incorrect candidates.")
    targets = np.where(labels, (correct + 1) / (correct + 2), 1 / (incorrect + 2))
    scaling = _newton(scores.astype(np.float64), targets)
    if scaling.scale <= 0:
        raise CascadaError("higher scores are not more likely to be correct on this data set.")
    return scaling


def _newton(scores: Floats, targets: Floats) -> PlattScaling:
    """Minimise the cross-entropy by Newton's method with backtracking, on standardised scores."""
    mean, deviation = scores.mean(), max(float(scores.std()), 1e-12)
    inputs = np.stack([(scores - mean) / deviation, np.ones(len(scores))])  # (2, candidates)
    weights = np.array([0.0, np.log(targets.sum() / (1 - targets).sum())])
    loss = _cross_entropy(weights, inputs, targets)
    for _ in range(100):
        probability = 1 / (1 + np.exp(-weights @ inputs))
        gradient = inputs @ (probability - targets)  # (2,)
        hessian = (inputs * probability * (1 - probability)) @ inputs.T + 1e-9 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        while (new := _cross_entropy(weights - step, inputs, targets)) > loss and np.abs(step).max() > 1e-12:
            step /= 2
        weights, done, loss = weights - step, loss - new < 1e-12 * len(scores), new
        if done:
            break
    return PlattScaling(float(weights[0] / deviation), float(weights[1] - weights[0] * mean / deviation))


def _cross_entropy(weights: Floats, inputs: Floats, targets: Floats) -> float:
    logits = weights @ inputs
    return float((np.logaddexp(0, logits) - targets * logits).sum())
