"""The rankers, one room per system; `registry.py` says which kind of ranker lives in which room."""

from cascada.ranking.ranker import use_loader
from cascada.systems.load import load

use_loader(load)
