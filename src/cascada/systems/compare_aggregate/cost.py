"""What the network costs, in matrix products."""

from __future__ import annotations

from dataclasses import dataclass

from cascada.objectives.levels import needed, objective_of, widths
from cascada.ranking.stage import Ints
from cascada.systems.compare_aggregate.shape import CompareAggregateShape


@dataclass(frozen=True)
class CompareArithmetic:
    """Ranking by the main level: a multiplication and an addition as two operations, what is linear left out."""

    shape: CompareAggregateShape
    looked_up: bool = False
    """Whether words' encodings are looked up in a table rather than computed."""

    def pair(self, words: Ints) -> Ints:
        """Operations for pairs with so many words, question and sentence together.

        How they share the words is not known here. The attention between them, a small part, is counted as if they were
        equally long, which is the most it can be.
        """
        shape = self.shape
        levels = len(needed(shape.levels, str(shape.main)))
        encoding = 0 if self.looked_up else 2 * 2 * shape.embedding * shape.hidden
        convolutions = levels * 2 * shape.hidden * shape.channels * sum(shape.widths)
        attention = 3 * 2 * shape.hidden * words * words // 4
        return words * (encoding + convolutions) + attention + self._head()

    def _head(self) -> int:
        main = str(self.shape.main)
        outputs = 2 if objective_of(main) == "point" else 1
        return 2 * self.shape.hidden * (widths(self.shape.levels)[main] * self.shape.feature + outputs)
