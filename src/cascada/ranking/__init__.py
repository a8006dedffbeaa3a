"""Ranking, without any particular system: stages, the executor that runs them, drop plans, cost and results."""

from cascada.ranking.pruned import Pruned, PrunedPassage, PrunedSentence
from cascada.ranking.ranker import Ranker
from cascada.ranking.result import Item, Ranking

__all__ = ["Item", "Pruned", "PrunedPassage", "PrunedSentence", "Ranker", "Ranking"]
