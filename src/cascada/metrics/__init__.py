"""Measures of rankings and of short answers, significance tests, and means over seeds."""

from cascada.metrics.answers import answer_scores, exact_match, f1
from cascada.metrics.evaluate import Evaluation, Policy, evaluate
from cascada.metrics.measures import DEFAULT_MEASURES, Measure
from cascada.metrics.open_qa import open_qa_scores
from cascada.metrics.significance import Comparison, Spread, compare, over_seeds

__all__ = [
    "DEFAULT_MEASURES",
    "Comparison",
    "Evaluation",
    "Measure",
    "Policy",
    "Spread",
    "answer_scores",
    "compare",
    "evaluate",
    "exact_match",
    "f1",
    "open_qa_scores",
    "over_seeds",
]
