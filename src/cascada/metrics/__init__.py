"""How good a ranking is: trec_eval's numbers, significance, and means over seeds."""

from cascada.metrics.evaluate import Evaluation, Policy, evaluate
from cascada.metrics.measures import DEFAULT_MEASURES, Measure
from cascada.metrics.seeds import Spread, over_seeds
from cascada.metrics.significance import Comparison, compare

__all__ = [
    "DEFAULT_MEASURES",
    "Comparison",
    "Evaluation",
    "Measure",
    "Policy",
    "Spread",
    "compare",
    "evaluate",
    "over_seeds",
]
