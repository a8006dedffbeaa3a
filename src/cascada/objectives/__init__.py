"""What a ranker learns from."""

from cascada.objectives.point import point

__all__ = ["point"]
