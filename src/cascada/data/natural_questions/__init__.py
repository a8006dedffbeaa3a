"""Natural Questions → ASNQ: every sentence of a page becomes a candidate with one of four labels."""

from cascada.data.natural_questions.convert import Conversion, Outcome, outcomes, write_asnq
from cascada.data.natural_questions.labels import Skipped
from cascada.data.natural_questions.split import Splits, halved, listed, write_splits

__all__ = ["Conversion", "Outcome", "Skipped", "Splits", "halved", "listed", "outcomes", "write_asnq", "write_splits"]
