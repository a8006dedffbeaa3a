"""Transfer sets from questions that come with their answers only: the negatives are mined."""

from cascada.data.mining.corpus import excluding
from cascada.data.mining.guards import Guards, squad_answers
from cascada.data.mining.mine import Miner, Report, Wanted, mine

__all__ = ["Guards", "Miner", "Report", "Wanted", "excluding", "mine", "squad_answers"]
