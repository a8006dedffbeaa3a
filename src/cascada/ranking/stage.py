"""What a ranker is made of: stages. Each scores the candidates that are still in and hands on what it computed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


Ints = NDArray[np.int64]


Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """The candidates that are still in, of one question or of many: pair i is `texts[i]` for `questions[owner[i]]`."""

    questions: Sequence[str]
    texts: Sequence[str]
    owner: Ints  # (pairs,)

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Ints) -> Pairs:
        return Pairs(self.questions, [self.texts[row] for row in rows], self.owner[rows])


class State(Protocol):
    """What a stage hands on, one row per pair; only the survivors' rows reach the next stage.

    The last stage of a ranker hands on nothing: another ranker may stand behind it.
    """

    def take(self, rows: Ints) -> State: ...


@dataclass(frozen=True)
class Scored:
    """What a stage found out."""

    scores: Floats  # (pairs,): raw scores, higher is better
    state: State | None = None
    truncated: Bools | None = None  # (pairs,): the text did not fit; None where a stage has no limit
    tokens: Ints | None = None  # (pairs,): tokens read; None where a stage does not count them
    besides: Ints | None = None  # (pairs,): operations beside those of `flops`, such as texts encoded before they meet


class OutOfTime(Exception):
    """A stage was stopped by the deadline; it has no scores to show."""


@dataclass(frozen=True)
class Deadline:
    """A moment of `time.perf_counter`."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.perf_counter() + seconds)

    @property
    def left(self) -> float:
        """Seconds until then; below zero when it has passed."""
        return self.at - time.perf_counter()

    def check(self) -> None:
        """Called before each stage, and by a stage before each of its batches."""
        if self.left < 0:
            raise OutOfTime


NO_DEADLINE = Deadline(float("inf"))


class Stage(Protocol):
    """One step of a ranker.

    `exit` names the place where candidates leave after it (a layer's number; 0 if it has no layers), `layers` is what
    it costs per candidate, in transformer layers. `score` may be called from many threads at once.
    """

    exit: int
    layers: int

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        """Score every pair, going on from what the stage before handed on (None for the first stage).

        Raises OutOfTime if the deadline passes before all are scored.
        """
        ...

    def flops(self, tokens: Ints) -> Ints:
        """Floating-point operations for each of the pairs, given how many tokens each has."""
        ...

    def probability(self, scores: Floats) -> Floats:
        """The same scores, in the same order, as numbers in [0, 1]."""
        ...
