"""Natural Questions → ASNQ: every sentence of a page becomes a candidate with one of four labels."""

from cascada.data.natural_questions.convert import Conversion, LineResult, line_results, write_asnq
from cascada.data.natural_questions.labels import Skipped
from cascada.data.natural_questions.split import Splits, halved, listed, write_splits

__all__ = [
    "Conversion",
    "LineResult",
    "Skipped",
    "Splits",
    "halved",
    "line_results",
    "listed",
    "write_asnq",
    "write_splits",
]
