"""How a ranker answers: stages, the executor that runs them, and what comes out."""

from cascada.ranking.ranker import Ranker
from cascada.ranking.result import Item, Ranking

__all__ = ["Item", "Ranker", "Ranking"]
