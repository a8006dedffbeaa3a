"""A run of stages over the surviving pairs: what one stage passes on to the next is kept here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.stage import Deadline, Ints, Pairs, Scored, Stage, State


class StageRun:
    """Runs stages one after the other on the pairs that survive."""

    def __init__(self, stages: Sequence[Stage], pairs: Pairs) -> None:
        self.stages = stages
        self.pairs = pairs
        self._state: State | None = None

    def score(self, index: int, deadline: Deadline) -> Scored:
        """Score the pairs at the next stage. Raises OutOfTime if the deadline passes before all are scored."""
        deadline.check()
        scored = self.stages[index].score(self.pairs, self._state, deadline)
        if not np.isfinite(scored.scores).all():
            raise CascadaError(
                "The ranker's scores are not numbers: its weights are damaged, or its training diverged."
            )
        self._state = scored.state
        return replace(scored, state=None)

    def take(self, rows: Ints) -> None:
        """Go on with these rows only; the state of the others, which is large, is released."""
        self.pairs = self.pairs.take(rows)
        self._state = None if self._state is None else self._state.take(rows)

    def finish(self) -> None:
        """End the run: nothing to do here; a `CachedRun` writes its cache."""
