"""What a ranker learns from."""

from cascada.objectives.distill import distill
from cascada.objectives.list_level import list_level
from cascada.objectives.pair import pair
from cascada.objectives.point import point

__all__ = ["distill", "list_level", "pair", "point"]
