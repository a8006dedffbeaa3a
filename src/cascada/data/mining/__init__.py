"""Build transfer sets from data that has only questions and their correct sentences: negatives are mined."""

from cascada.data.mining.corpus import excluding
from cascada.data.mining.guards import Guards, squad_answers
from cascada.data.mining.mine import Miner, MiningReport, NegativeCounts, mine

__all__ = ["Guards", "Miner", "MiningReport", "NegativeCounts", "excluding", "mine", "squad_answers"]
