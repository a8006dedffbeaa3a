"""What a ranker learns from."""

from cascada.objectives.distill import distill
from cascada.objectives.point import point

__all__ = ["distill", "point"]
