"""Cascada picks the answer out of hundreds of candidate sentences, in a fraction of the compute."""

import cascada.systems  # noqa: F401  (provides Ranker.load)
from cascada.core.errors import CascadaError
from cascada.ranking import Item, Ranker, Ranking

__version__ = "0.1.0"
__all__ = ["CascadaError", "Item", "Ranker", "Ranking"]
