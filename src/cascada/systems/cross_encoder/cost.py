"""The operations of a cross-encoder's stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cascada.ranking.cost import TransformerFlops
from cascada.ranking.stage import Ints


@dataclass(frozen=True)
class CrossEncoderFlops:
    """Counts the layers' operations as for any transformer, and every head as the model's own: a dense layer and a
    logit of one vector per pair. The heads of added exits are smaller; the difference is far below 1 % of a layer."""

    hidden: int
    feed_forward: int

    def stage(self, layers: int, tokens: Ints) -> Ints:
        """Operations of this many layers and a head, for pairs of these lengths."""
        head = 2 * self.hidden * self.hidden + 2 * self.hidden
        return layers * TransformerFlops(self.hidden, self.feed_forward).layer(tokens) + np.full_like(tokens, head)
