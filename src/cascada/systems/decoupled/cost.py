"""The floating-point operations of a decoupled ranker's matrix products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cascada.ranking.cost import TransformerFlops
from cascada.ranking.stage import Ints
from cascada.systems.decoupled.shape import DecoupledShape


@dataclass(frozen=True)
class DecoupledFlops:
    """Counts operations as `TransformerFlops` does: of the towers up to the join, and of the interaction above it."""

    shape: DecoupledShape
    hidden: int
    feed_forward: int

    def tower(self, tokens: Ints, *, document: bool) -> Ints:
        """Operations of encoding texts of these lengths."""
        keep = self.shape.keep
        down = 2 * self.hidden * keep * tokens if document and keep else 0
        return self.shape.join * self._transformer.layer(tokens) + down

    def joint(self, first: int, exit: int, tokens: Ints) -> Ints:
        """Operations from one exit, or the join, to the next, for pairs of these lengths."""
        join, keep, width = self.shape.join, self.shape.keep, self.hidden
        if exit == join:
            return np.zeros_like(tokens)
        # Only the document's tokens are projected up, but how many of a pair's tokens these are is not known here.
        up = 2 * width * keep * tokens if keep and first == join else 0
        interaction = self._interaction(exit - first, tokens, last=exit == self.shape.exits[-1])
        return up + interaction + 4 * width * width + 4 * width

    def _interaction(self, layers: int, tokens: Ints, *, last: bool) -> Ints:
        width = self.hidden
        if self.shape.interaction == "linear":
            return np.full_like(tokens, layers * 8 * width * width)
        if self.shape.interaction == "lstm":  # two directions of four gates of half the width; the bilinear form
            return tokens * (layers * 12 * width * width + 2 * width * width)
        whole = (layers - 1 if last else layers) * self._transformer.layer(tokens)
        if not last:
            return whole
        # The head of the last exit reads the first token of each side only, so only these two are computed.
        two = 2 * (4 * width * width + 4 * width * self.feed_forward + 4 * width * tokens)
        return whole + tokens * 4 * width * width + two  # keys and values of all tokens, the rest of two tokens

    @property
    def _transformer(self) -> TransformerFlops:
        return TransformerFlops(self.hidden, self.feed_forward)
