"""The floating-point operations of the network's matrix products."""

from __future__ import annotations

from dataclasses import dataclass

from cascada.objectives.levels import levels_needed, levels_seen, objective_of
from cascada.ranking.stage import Ints
from cascada.systems.compare_aggregate.shape import CompareAggregateShape


@dataclass(frozen=True)
class CompareAggregateFlops:
    """Counts the operations of ranking by the main level, two for a multiplication and addition.

    Operations that are linear in the states (activations, look-ups) are not counted.
    """

    shape: CompareAggregateShape
    looked_up: bool = False
    """Whether word encodings are read from a table rather than computed."""

    def pair(self, words: Ints) -> Ints:
        """Operations for pairs of these lengths: words of question and sentence together.

        The length of each side is not known here. Attention, a small part, is counted for two sides of equal length,
        which is an upper bound.
        """
        shape = self.shape
        levels = len(levels_needed(shape.levels, str(shape.main)))
        encoding = 0 if self.looked_up else 2 * 2 * shape.embedding * shape.hidden
        convolutions = levels * 2 * shape.hidden * shape.channels * sum(shape.widths)
        attention = 3 * 2 * shape.hidden * words * words // 4
        return words * (encoding + convolutions) + attention + self._head()

    def _head(self) -> int:
        main = str(self.shape.main)
        outputs = 2 if objective_of(main) == "point" else 1
        return 2 * self.shape.hidden * (levels_seen(self.shape.levels)[main] * self.shape.feature + outputs)
