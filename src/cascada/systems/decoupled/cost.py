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
    attention_heads: int | None
    """None if the last layer computes keys and values of all tokens, as in exports by earlier versions."""

    def tower(self, tokens: Ints, *, document: bool, first: int = 0, last: int | None = None) -> Ints:
        """Operations of encoding texts of these lengths, or of layers `first`+1 to `last` of it."""
        keep, join = self.shape.keep, self.shape.join
        last = join if last is None else last
        down = 2 * self.hidden * keep * tokens if document and keep and last == join else 0
        return (last - first) * self._transformer.layer(tokens) + down

    def joint(self, first: int, exit: int, tokens: Ints) -> Ints:
        """Operations from one exit, or the join, to the next above the join, for pairs of these lengths."""
        join, keep, width = self.shape.join, self.shape.keep, self.hidden
        if exit <= join:
            return np.zeros_like(tokens)
        # Only the document's tokens are projected up, but how many of a pair's tokens these are is not known here.
        up = 2 * width * keep * tokens if keep and first == join and self.shape.interaction != "lstm" else 0
        interaction = self._interaction(exit - first, tokens, last=exit == self.shape.exits[-1])
        return up + interaction + 4 * width * width + 4 * width

    def read_side(self, tokens: Ints, *, document: bool) -> Ints:
        """Operations of reading texts of these lengths with the LSTM."""
        width, keep = self.hidden, self.shape.keep or 0
        lstm = self.shape.joint_layers * 12 * width * width * tokens  # two directions of four gates of half the width
        if document:
            return lstm + (2 * width * width + 2 * width * keep) * tokens
        return lstm + 2 * width * tokens + 2 * width * width

    def _interaction(self, layers: int, tokens: Ints, *, last: bool) -> Ints:
        width = self.hidden
        if self.shape.interaction == "linear":
            return np.full_like(tokens, layers * 8 * width * width)
        if self.shape.interaction == "lstm":  # a side is read once, not for every pair: see `read_side`
            return np.zeros_like(tokens)
        whole = (layers - 1 if last else layers) * self._transformer.layer(tokens)
        if not last:
            return whole
        # The head of the last exit reads the first token of each side only, so only these two are computed.
        if self.attention_heads is None:
            two = 2 * (4 * width * width + 4 * width * self.feed_forward + 4 * width * tokens)
            return whole + tokens * 4 * width * width + two
        rows = 2 * (8 * width * width + 4 * width * self.feed_forward)
        return whole + rows + 8 * self.attention_heads * width * tokens  # their attention reads states as they are

    @property
    def _transformer(self) -> TransformerFlops:
        return TransformerFlops(self.hidden, self.feed_forward)
