"""The stages of a ranker: each scores the surviving candidates and passes on what it computed."""

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
    """The surviving candidates of one or more questions: pair i is `texts[i]` for `questions[owner[i]]`.

    A candidate whose text is too long has several pairs, one for each window of it (see `long_texts.py`).
    """

    questions: Sequence[str]
    texts: Sequence[str]
    owner: Ints  # (pairs,)
    candidate: Ints | None = None  # (pairs,): each pair's candidate, ascending; None if pair i is candidate i

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: Ints) -> Pairs:
        """The pairs of these rows."""
        candidate = None if self.candidate is None else self.candidate[rows]
        return Pairs(self.questions, [self.texts[row] for row in rows], self.owner[rows], candidate)


class State(Protocol):
    """What a stage passes on to the next one, with one row per pair. Only the survivors' rows are passed on.

    The last stage of a ranker passes on nothing, because another ranker may follow it.
    """

    def take(self, rows: Ints) -> State:
        """The state of these rows."""
        ...


@dataclass(frozen=True)
class Scored:
    """The result of one stage."""

    scores: Floats  # (pairs,): raw scores, higher is better
    state: State | None = None
    truncated: Bools | None = None  # (pairs,): whether the text was too long; None if the stage has no limit
    tokens: Ints | None = None  # (pairs,): tokens read; None if the stage does not count them
    extra_flops: Ints | None = None  # (pairs,): operations not included in `flops`, such as encoding texts separately
    cached: Bools | None = None  # (pairs,): whether the score came from a cache, at no cost; None if none did


class OutOfTime(Exception):
    """Raised when the deadline stops a stage, which then has no scores."""


@dataclass(frozen=True)
class Deadline:
    """A point in time, as `time.perf_counter` counts it."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline this many seconds from now."""
        return cls(time.perf_counter() + seconds)

    @property
    def left(self) -> float:
        """Seconds until the deadline; negative once it has passed."""
        return self.at - time.perf_counter()

    def check(self) -> None:
        """Raise OutOfTime if the deadline has passed. Stages call this before each of their batches."""
        if self.left < 0:
            raise OutOfTime


NO_DEADLINE = Deadline(float("inf"))


Exit = int | str
"""The name of a stage: the number of the layer after which it scores, 0 for exit 0, or `START`."""

START = "start"
"""The name of BM25 in front of other rankers, which runs no part of a model; exit 0 may follow it."""


def exit_of(stage: Stage) -> Exit:
    """What a stage is called in tables and pictures, where BM25 is not to be taken for exit 0."""
    return START if getattr(stage, "is_start", False) else stage.exit


class Stage(Protocol):
    """One step of a ranker.

    `exit` is the number of the layer after which candidates may be dropped, or 0 for a stage without layers. `layers`
    is the cost per candidate, in transformer layers. `score` may be called from several threads at once. A stage that
    reads a limited number of tokens of a text has an attribute `limit`, a `cascada.text.sentence_windows.TextLimit`.
    One whose scores depend on the question's other candidates has a true `compares_candidates`: they cannot be cached.
    BM25 has a true `is_start` (see `exit_of`).
    """

    exit: int
    layers: int

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        """Score every pair, continuing from the state of the previous stage (None for the first stage).

        Raises OutOfTime if the deadline passes before all pairs are scored.
        """
        ...

    def flops(self, tokens: Ints) -> Ints:
        """Floating-point operations for each pair, given its number of tokens."""
        ...

    def probability(self, scores: Floats) -> Floats:
        """Map raw scores to [0, 1], preserving their order."""
        ...
