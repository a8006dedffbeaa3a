"""Tuning of drop plans: replay every plan from one pass over the data, and choose one of them."""

from cascada.ranking.tuning.choose import LOSS, PAPER, Criterion, default_grid, grid_of, within_budget, within_loss
from cascada.ranking.tuning.guarantee import Certificate, certified, check_certainty
from cascada.ranking.tuning.replay import Figures, replay
from cascada.ranking.tuning.scores import ExitScores, ScoredQuestion, collect
from cascada.ranking.tuning.tune import Choice, Tuning, tune, tune_keeping_best

__all__ = [
    "LOSS",
    "PAPER",
    "Certificate",
    "Choice",
    "Criterion",
    "ExitScores",
    "Figures",
    "ScoredQuestion",
    "Tuning",
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
