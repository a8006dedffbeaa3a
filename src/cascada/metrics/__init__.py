"""How good a ranking is: trec_eval's numbers, significance, and means over seeds."""

from cascada.metrics.evaluate import Evaluation, Policy, evaluate
from cascada.metrics.measures import DEFAULT_MEASURES, Measure

__all__ = ["DEFAULT_MEASURES", "Evaluation", "Measure", "Policy", "evaluate"]
