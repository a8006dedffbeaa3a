"""What a ranker is made of: stages. Each scores the candidates that are still in and hands on what it computed."""

from __future__ import annotations

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
    """What a stage hands on, one row per pair; only the survivors' rows reach the next stage."""

    def take(self, rows: Ints) -> State: ...


@dataclass(frozen=True)
class Scored:
    """What a stage found out."""

    scores: Floats  # (pairs,): raw scores, higher is better
    state: State | None = None
    truncated: Bools | None = None  # (pairs,): the text did not fit; None where a stage has no limit


class Stage(Protocol):
    """One step of a ranker.

    `exit` names the place where candidates leave after it (a layer's number; 0 if it has no layers), `layers` is what
    it costs per candidate, in transformer layers. `score` may be called from many threads at once.
    """

    exit: int
    layers: int

    def score(self, pairs: Pairs, state: Any) -> Scored:
        """Score every pair, going on from what the stage before handed on (None for the first stage)."""
        ...

    def probability(self, scores: Floats) -> Floats:
        """The same scores, in the same order, as numbers in [0, 1]."""
        ...
