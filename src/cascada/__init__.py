"""Cascada picks the answer out of hundreds of candidate sentences, in a fraction of the compute."""

from cascada.ranking import Item, Ranker, Ranking

__version__ = "0.1.0"
__all__ = ["Item", "Ranker", "Ranking"]
