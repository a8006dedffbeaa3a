"""Okapi BM25's formula, for whoever counts words."""

from __future__ import annotations

from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75

Numbers = TypeVar("Numbers", float, NDArray[np.float64])


def rarity(texts: int, having: int) -> float:
    """How much a word says: log(1 + (N − n + ½) / (n + ½)) if n of N texts have it."""
    return log(1 + (texts - having + 0.5) / (having + 0.5))


def weight(count: Numbers, length: Numbers, average: float) -> Numbers:
    """What a word counts that a text of so many words has so often, before its rarity."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
