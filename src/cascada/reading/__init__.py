"""The span reader: it finds the short answer to a question in a text."""

from cascada.reading.reader import Reader
from cascada.reading.span import Span

__all__ = ["Reader", "Span"]
