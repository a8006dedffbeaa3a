"""Significance tests of the difference between two runs, and means over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError, require
from cascada.metrics.evaluate import Evaluation
from cascada.metrics.measures import Measure

Floats1d = NDArray[np.float64]

ROUNDS = 10_000
"""Number of random sign flips if there are too many to try all."""

# 2^20 sums of 8 bytes are 8 MB and a few milliseconds: less than drawing flips would take.
_EXACT_UP_TO = 20

# Flips in memory at a time, over all questions.
_FLIPS_AT_A_TIME = 2**20


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between runs `a` and `b`, and how likely chance alone is to make it at least as large."""

    measure: str
    difference: float
    """Mean of `a` minus mean of `b`."""
    t_p: float | None
    """Two-sided p of the paired t-test; None if t is undefined, because every question differs by the same amount."""
    randomisation_p: float
    """Two-sided p of the paired randomisation test."""
    questions: int


def compare(
    a: Evaluation, b: Evaluation, measure: str, *, shared: bool = False, rounds: int = ROUNDS, seed: int = 0
) -> Comparison:
    """Compare two evaluations, question by question.

    Both must have the same questions; with `shared=True`, questions that only one of them has are ignored.
    """
    name = Measure.parse(measure).name
    differences = _differences(a, b, name, shared)
    return Comparison(
        name,
        float(differences.mean()),
        t_test(differences),
        randomisation_test(differences, rounds, seed),
        len(differences),
    )


def t_test(differences: Floats1d) -> float | None:
    """Two-sided p of the paired t-test on the differences; None if all are equal."""
    # Equal up to rounding: the variance would be noise, and so would p.
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max():
        return None
    stats = require("scipy.stats", "eval", "the paired t-test")
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def randomisation_test(differences: Floats1d, rounds: int = ROUNDS, seed: int = 0) -> float:
    """Two-sided p of the paired randomisation test on the differences.

    If the runs were equally good, each difference could as well have the other sign: p is the share of sign flips whose
    sum is at least as far from 0 as the observed one. With up to 20 differences that are not 0, all flips are tried,
    and p is exact. With more, `rounds` flips are drawn, and p is (hits + 1) / (rounds + 1), which is never 0.
    """
    if rounds < 1:
        raise CascadaError(f"The randomisation test needs at least 1 round, not {rounds}.")
    differences = differences[differences != 0.0]  # flipping 0 changes no sum
    # A tolerance, because the same sum in another order may be smaller by a rounding error.
    at_least = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    if len(differences) <= _EXACT_UP_TO:
        return float(np.mean(np.abs(_every_flip(differences)) >= at_least))
    return (_hits(differences, at_least, rounds, seed) + 1) / (rounds + 1)


def _every_flip(differences: Floats1d) -> Floats1d:
    """Sums of all 2^n sign flips."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _hits(differences: Floats1d, at_least: float, rounds: int, seed: int) -> int:
    """Number of random sign flips, of `rounds`, whose sum is at least that far from 0."""
    generator = np.random.default_rng(seed)
    step = max(1, _FLIPS_AT_A_TIME // len(differences))
    hits = 0
    for start in range(0, rounds, step):
        shape = min(step, rounds - start), len(differences)
        flipped = generator.integers(0, 2, shape, np.int8)  # (rounds, questions)
        sums = differences.sum() - 2.0 * (flipped @ differences)
        hits += int(np.count_nonzero(np.abs(sums) >= at_least))
    return hits


def _differences(a: Evaluation, b: Evaluation, name: str, shared: bool) -> Floats1d:
    if name not in a.by_question or name not in b.by_question:
        raise CascadaError(f"{name} was not measured in both evaluations: evaluate both with it.")
    first, second = a.by_question[name], b.by_question[name]
    if not shared and first.keys() != second.keys():
        raise CascadaError(
            f"The evaluations are over different questions ({len(first.keys() - second.keys())} only in the first, "
            f"{len(second.keys() - first.keys())} only in the second): set shared=True to compare those in both."
        )
    both = sorted(first.keys() & second.keys())  # sorted, so that the random flips do not depend on their order
    if len(both) < 2:
        raise CascadaError(f"A comparison needs at least 2 questions in both evaluations, not {len(both)}.")
    return np.array([first[question] - second[question] for question in both])


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a measure over several seeds."""

    mean: float
    std: float | None
    """The sample standard deviation (divided by seeds − 1); None for one seed."""
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:.4f}" if self.std is None else f"{self.mean:.4f} ± {self.std:.4f}"


def over_seeds(means: Sequence[Mapping[str, float]]) -> dict[str, Spread]:
    """Measure → mean and standard deviation, from one `Evaluation.mean` per seed.

    >>> str(over_seeds([{"MAP": 0.70}, {"MAP": 0.74}])["MAP"])
    '0.7200 ± 0.0283'
    """
    if not means:
        raise CascadaError("There are no seeds to average over: give the means of at least one.")
    for number, mean in enumerate(means, start=1):
        if mean.keys() != means[0].keys():
            raise CascadaError(
                f"Seed {number} was measured by {', '.join(mean) or 'nothing'} and the first by "
                f"{', '.join(means[0]) or 'nothing'}: use the same measures for all seeds."
            )
    return {name: _spread([mean[name] for mean in means]) for name in means[0]}


def _spread(values: list[float]) -> Spread:
    return Spread(fmean(values), stdev(values) if len(values) > 1 else None, len(values))
