"""Which exits drop how much: every setting replayed from one pass over the data, and one of them chosen."""

from cascada.ranking.tuning.choose import LOSS, PAPER, Wish, default_grid, grid_of, within_budget, within_loss
from cascada.ranking.tuning.guarantee import Certificate, certified, check_certainty
from cascada.ranking.tuning.replay import Figures, replay
from cascada.ranking.tuning.scores import ExitScores, Question, collect
from cascada.ranking.tuning.tune import Choice, Tuning, tune, tune_keeping_best

__all__ = [
    "LOSS",
    "PAPER",
    "Certificate",
    "Choice",
    "ExitScores",
    "Figures",
    "Question",
    "Tuning",
    "Wish",
    "certified",
    "check_certainty",
    "collect",
    "default_grid",
    "grid_of",
    "replay",
    "tune",
    "tune_keeping_best",
    "within_budget",
    "within_loss",
]
