"""The reader: the short answer to a question, where it stands in a text."""

from cascada.reading.reader import Reader
from cascada.reading.span import Span

__all__ = ["Reader", "Span"]
