"""Drops that fit a ranking into a time: chosen at every exit from what is left and how fast the stages have been."""

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
"""The share of the time left that a plan may fill: a stage that ends too late is lost whole."""


REMEMBERED = 9
"""Runs of a stage whose median counts: a slow first one is soon outvoted, and a busier machine soon noticed."""


_LOCK = Lock()  # one for all, so that a ranker can still be pickled


@dataclass(frozen=True)
class Rate:
    """How fast a stage was: seconds per operation where it counts them, and per candidate."""

    per_flop: float
    per_candidate: float

    @classmethod
    def of(cls, seconds: float, flops: int, candidates: int) -> Rate:
        return cls(seconds / flops if flops else inf, seconds / candidates)


class Speeds:
    """What a ranker's stages have been measured at, from any number of threads."""

    def __init__(self, stages: int) -> None:
        self._measured: list[deque[Rate]] = [deque(maxlen=REMEMBERED) for _ in range(stages)]

    def learn(self, outcomes: Sequence[Outcome]) -> None:
        """Take note of a run; a stage that the deadline stopped tells nothing."""
        seconds = np.sum([outcome.seconds for outcome in outcomes], 0)  # (stages,)
        flops = np.sum([outcome.flops for outcome in outcomes], 0)
        scored = np.sum([np.isfinite(outcome.scores).sum(1) for outcome in outcomes], 0)
        with _LOCK:
            for stage in np.flatnonzero(scored):
                self._measured[stage].append(Rate.of(float(seconds[stage]), int(flops[stage]), int(scored[stage])))

    def rate(self, stage: int) -> Rate | None:
        """The usual one; None if it never ran."""
        with _LOCK:
            measured = list(self._measured[stage])
        if not measured:
            return None
        return Rate(median(one.per_flop for one in measured), median(one.per_candidate for one in measured))


@dataclass(frozen=True)
class Fit:
    """Rules for `execute`: at each exit the smallest ratio that, kept up from there on, is expected to be in time."""

    stages: Sequence[Stage]
    speeds: Speeds
    deadline: Deadline

    def __call__(self, step: Step) -> Decimal:
        left = SPARE * self.deadline.left
        return next((ratio for ratio in RATIOS if self.expected(step, ratio) <= left), RATIOS[-1])

    def expected(self, step: Step, ratio: Decimal) -> float:
        """Seconds for the stages still to come; survivors are taken to be as long as all are on average."""
        later = range(step.stage + 1, len(self.stages))
        survivors = survivors_into((ratio,) * len(later), len(step.tokens))[1:]
        return sum(count * self._each(index, step) for index, count in zip(later, survivors, strict=True))

    def _each(self, index: int, step: Step) -> float:
        """Seconds for one candidate at a stage, which if it never ran is taken to be as fast as this run's last one."""
        rate = self.speeds.rate(index)
        if not step.tokens.all():  # lengths are not known
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
