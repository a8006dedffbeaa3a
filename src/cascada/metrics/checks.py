"""What trec_eval's C code takes on trust, checked before it gets there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, SupportsInt

from cascada.errors import CascadaError

if TYPE_CHECKING:
    from cascada.metrics.types import Qrels, Run

# trec_eval keeps scores as 32-bit floats: anything larger would become infinite, and tie.
LARGEST_SCORE = 3.4028234663852886e38
# It keeps one counter per level of relevance, so a huge level would ask for a huge array.
LARGEST_RELEVANCE = 1_000_000


def checked_scores(run: Run) -> Run:
    """The run with plain floats (numpy's 32-bit ones would be refused), every score finite."""
    return {question: _question_scores(question, scores) for question, scores in run.items()}


def checked_labels(qrels: Qrels) -> Qrels:
    """The correct answers with plain integers."""
    _check_ids("the correct answers", qrels)
    return {question: _question_labels(question, labels) for question, labels in qrels.items()}


def _question_scores(question: str, scores: dict[str, float]) -> dict[str, float]:
    _check_ids(f"question {question!r} of the run", scores)
    try:
        plain = {candidate: float(score) for candidate, score in scores.items()}
    except (TypeError, ValueError) as error:
        raise CascadaError(f"A score of question {question!r} is not a number: {error}.") from error
    for candidate, score in plain.items():
        if not -LARGEST_SCORE <= score <= LARGEST_SCORE:  # also true of NaN
            raise CascadaError(
                f"The score of candidate {candidate!r} for question {question!r} is {score}; "
                "a score must be finite, also as a 32-bit float."
            )
    return plain


def _question_labels(question: str, labels: dict[str, int]) -> dict[str, int]:
    _check_ids(f"question {question!r} of the correct answers", labels)
    return {candidate: _relevance(question, candidate, label) for candidate, label in labels.items()}


def _relevance(question: str, candidate: str, label: SupportsInt) -> int:
    try:
        plain = int(label)
    except (TypeError, ValueError, OverflowError):
        plain = LARGEST_RELEVANCE + 1
    if plain != label or abs(plain) > LARGEST_RELEVANCE:
        raise CascadaError(
            f"The relevance of candidate {candidate!r} for question {question!r} is {label!r}; "
            f"it must be a whole number up to {LARGEST_RELEVANCE:,}."
        )
    return plain


def _check_ids(where: str, ids: Iterable[str]) -> None:
    """C strings: a lone surrogate would crash the process, and a NUL would end the id early."""
    try:
        if "\0" in (joined := "".join(ids)):
            raise CascadaError(f"An id in {where} contains a NUL character.")
        joined.encode()
    except TypeError as error:
        raise CascadaError(f"The ids in {where} must be strings.") from error
    except UnicodeEncodeError as error:
        raise CascadaError(f"An id in {where} is not valid Unicode: {error}.") from error
