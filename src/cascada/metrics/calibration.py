"""Do scores mean what they say? Of the candidates with score 0.7, seven in ten should be right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError

Floats = NDArray[np.float64]


BINS = 10


@dataclass(frozen=True)
class Line:
    """Raw score → scale · score + shift, whose sigmoid is a probability."""

    scale: float
    shift: float


def calibration_error(probabilities: Floats, labels: NDArray[np.bool_], bins: int = BINS) -> float:
    """Expected calibration error: how far the mean score of a bin is from its share of right ones, over bins of equal
    width, each counted by its candidates.

    >>> calibration_error(np.array([0.25, 0.25, 0.25, 0.25]), np.array([True, False, False, False]))
    0.0
    """
    place = np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    gap = np.bincount(place, probabilities - labels, minlength=bins)
    return float(np.abs(gap).sum() / len(labels))


def fit_line(scores: Floats, labels: NDArray[np.bool_]) -> Line:
    """The line under which the labels are likeliest (Platt scaling, with his smoothed targets, so that scores that tell
    right from wrong without a mistake get a finite one). It never turns the order around.
    """
    right = int(labels.sum())
    wrong = len(labels) - right
    if not right or not wrong:
        raise CascadaError("Calibration needs candidates that are right and candidates that are wrong.")
    targets = np.where(labels, (right + 1) / (right + 2), 1 / (wrong + 2))
    line = _newton(scores.astype(np.float64), targets)
    if line.scale <= 0:
        raise CascadaError("higher scores are not likelier to be right on this data set.")
    return line


def _newton(scores: Floats, targets: Floats) -> Line:
    centre, spread = scores.mean(), max(float(scores.std()), 1e-12)
    inputs = np.stack([(scores - centre) / spread, np.ones(len(scores))])  # (2, candidates)
    at = np.array([0.0, np.log(targets.sum() / (1 - targets).sum())])
    loss = _loss(at, inputs, targets)
    for _ in range(100):
        probability = 1 / (1 + np.exp(-at @ inputs))
        slope = inputs @ (probability - targets)
        curve = (inputs * probability * (1 - probability)) @ inputs.T + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        while (new := _loss(at - step, inputs, targets)) > loss and np.abs(step).max() > 1e-12:
            step /= 2
        at, done, loss = at - step, loss - new < 1e-12 * len(scores), new
        if done:
            break
    return Line(float(at[0] / spread), float(at[1] - at[0] * centre / spread))


def _loss(at: Floats, inputs: Floats, targets: Floats) -> float:
    logits = at @ inputs
    return float((np.logaddexp(0, logits) - targets * logits).sum())
