"""From the difference of two logits to a probability."""

from __future__ import annotations

import numpy as np

from cascada.ranking.stage import Floats


def sigmoid(scores: Floats) -> Floats:
    """Without overflow on either side."""
    small = np.exp(-np.abs(scores))
    return np.where(scores >= 0, 1 / (1 + small), small / (1 + small)).astype(np.float32)
