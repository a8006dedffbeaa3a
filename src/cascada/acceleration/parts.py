"""Three parts of the questions: heads learn on the first, the plan is chosen on the second, the third tests it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.stage import Ints
from cascada.ranking.tuning.guarantee import questions_needed

FEWEST = 12
"""The smallest number of questions to learn from."""


@dataclass(frozen=True)
class Parts:
    """The numbers of the questions of each part, rising."""

    heads: Ints
    """Heads are learned on these questions."""
    plan: Ints
    """Heads are compared and the plan is chosen on these."""
    test: Ints
    """The certificate and the report are measured on these alone."""

    @classmethod
    def of(cls, questions: int, seed: int) -> Parts:
        """A random third for each part; a remainder of one goes to the last part, of two to the last and the second."""
        shuffled = np.random.default_rng(seed).permutation(questions)
        first, second = questions // 3, questions // 3 + (questions + 1) // 3
        heads, plan, test = np.split(shuffled, [first, second])
        return cls(np.sort(heads), np.sort(plan), np.sort(test))


def check_enough(questions: int, keep_best: float | None, confidence: float) -> None:
    """Reject too few questions, before the model runs; the error says how many are needed."""
    if keep_best is None:
        if questions < FEWEST:
            raise CascadaError(f"There are {questions} usable questions; it takes at least {FEWEST}, without labels.")
        return
    needed = max(questions_needed(keep_best, confidence), FEWEST // 3)
    held_out = len(Parts.of(questions, 0).test)
    if held_out < needed:
        raise CascadaError(
            f"There are {questions} usable questions, of which {held_out} are held out for the certificate; to say "
            f"{100 * keep_best:.4g} % with {100 * confidence:.4g} % confidence takes {needed}, so {_in_all(needed)} in "
            "all, without labels: give more, ask for a lower share (--keep-best), or choose by --loss or --budget."
        )


def _in_all(held_out: int) -> int:
    """The fewest questions of which this many are held out."""
    return next(count for count in range(3 * held_out + 3) if len(Parts.of(count, 0).test) >= held_out)
