"""Drops that meet a deadline, chosen at each exit from the time left and the measured speed of the stages."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from statistics import median
from threading import Lock

import numpy as np

from cascada.ranking.cost import survivors_into
from cascada.ranking.executor import Outcome, Step
from cascada.ranking.stage import Deadline, Ints, Stage

RATIOS = tuple(Decimal(tenths) / 10 for tenths in range(10))

SPARE = 0.9
"""The share of the remaining time that a plan may use: a stage that ends too late is lost entirely."""

REMEMBERED = 9
"""How many runs of a stage the median is taken over: few enough to notice a busier machine soon."""

_LOCK = Lock()  # one for all rankers: a lock in a ranker would prevent pickling


@dataclass(frozen=True)
class Rate:
    """The speed of a stage: seconds per operation, infinite if it counts none, and seconds per candidate."""

    per_flop: float
    per_candidate: float

    @classmethod
    def of(cls, seconds: float, flops: int, candidates: int) -> Rate:
        """The rate of one run."""
        return cls(seconds / flops if flops else inf, seconds / candidates)


class Speeds:
    """Measured rates of a ranker's stages; safe to use from several threads."""

    def __init__(self, stages: int) -> None:
        self._measured: list[deque[Rate]] = [deque(maxlen=REMEMBERED) for _ in range(stages)]

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Record a run; a stage that the deadline stopped has no rate, nor one that found scores in a cache."""
        seconds = np.sum([outcome.seconds for outcome in outcomes], 0)  # (stages,)
        flops = np.sum([outcome.flops for outcome in outcomes], 0)
        scored = np.sum([outcome.texts for outcome in outcomes], 0)
        cached = np.sum([outcome.cached for outcome in outcomes], 0)
        with _LOCK:
            for stage in np.flatnonzero((scored > 0) & (cached == 0)):
                self._measured[stage].append(Rate.of(float(seconds[stage]), int(flops[stage]), int(scored[stage])))

    def rate(self, stage: int) -> Rate | None:
        """The median rate of a stage; None if it never ran."""
        with _LOCK:
            measured = list(self._measured[stage])
        if not measured:
            return None
        return Rate(median(rate.per_flop for rate in measured), median(rate.per_candidate for rate in measured))


@dataclass(frozen=True)
class Fit:
    """Rules for `execute`: at each exit, the smallest ratio that, applied from there on, should meet the deadline."""

    stages: Sequence[Stage]
    speeds: Speeds
    deadline: Deadline

    def __call__(self, step: Step) -> Decimal:
        left = SPARE * self.deadline.left
        return next((ratio for ratio in RATIOS if self.expected(step, ratio) <= left), RATIOS[-1])

    def expected(self, step: Step, ratio: Decimal) -> float:
        """Expected seconds of the remaining stages, assuming that survivors have the average length."""
        later = range(step.stage + 1, len(self.stages))
        survivors = survivors_into((ratio,) * len(later), len(step.tokens))[1:]
        return sum(
            count * self._seconds_per_candidate(index, step) for index, count in zip(later, survivors, strict=True)
        )

    def _seconds_per_candidate(self, index: int, step: Step) -> float:
        """Expected seconds per candidate. A stage that never ran is assumed to be as fast as this run's last stage."""
        rate = self.speeds.rate(index)
        if not step.tokens.all():  # some lengths are unknown
            return rate.per_candidate if rate else inf
        flops = _mean(self.stages[index].flops(step.tokens))
        if not flops:
            return rate.per_candidate if rate else 0.0
        return flops * (rate or self._of_this_run(step)).per_flop

    def _of_this_run(self, step: Step) -> Rate:
        flops = int(self.stages[step.stage].flops(step.tokens).sum())
        return Rate.of(step.seconds, flops, len(step.tokens))


def _mean(numbers: Ints) -> float:
    return float(numbers.mean())
