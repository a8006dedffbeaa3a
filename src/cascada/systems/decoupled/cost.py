"""A decoupled ranker's matrix products, counted as `cascada.ranking.cost.Arithmetic` counts a transformer's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cascada.ranking.cost import Arithmetic
from cascada.ranking.stage import Ints


@dataclass(frozen=True)
class DecoupledArithmetic:
    """Of one model: towers up to the join, and what reads both sides above it."""

    hidden: int
    feed_forward: int
    join: int
    interaction: str = "layers"
    keep: int | None = None
    last: int | None = None
    """The last exit: its layer is computed for the two first tokens alone, which is all that its head reads."""

    def tower(self, tokens: Ints, *, document: bool) -> Ints:
        """Encoding texts of so many tokens each."""
        down = 2 * self.hidden * self.keep * tokens if document and self.keep else 0
        return self.join * self._layers.layer(tokens) + down

    def joint(self, first: int, exit: int, tokens: Ints) -> Ints:
        """From one exit to the next, on pairs of so many tokens each."""
        if exit == self.join:
            return np.zeros_like(tokens)
        width = self.hidden
        # The document's tokens alone go through it, but how many of a pair's are the document's is not known here.
        up = 2 * width * self.keep * tokens if self.keep and first == self.join else 0
        return up + self._interaction(exit - first, tokens, last=exit == self.last) + 4 * width * width + 4 * width

    def _interaction(self, layers: int, tokens: Ints, *, last: bool) -> Ints:
        width = self.hidden
        if self.interaction == "linear":
            return np.full_like(tokens, layers * 8 * width * width)
        if self.interaction == "lstm":  # two directions of four gates of half the width; the bilinear form
            return tokens * (layers * 12 * width * width + 2 * width * width)
        whole = (layers - 1 if last else layers) * self._layers.layer(tokens)
        if not last:
            return whole
        two = 2 * (4 * width * width + 4 * width * self.feed_forward + 4 * width * tokens)
        return whole + tokens * 4 * width * width + two  # keys and values of all tokens, the rest of two

    @property
    def _layers(self) -> Arithmetic:
        return Arithmetic(self.hidden, self.feed_forward)
