"""Check runs and qrels before they reach trec_eval's C code, which checks nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from numbers import Integral
from typing import TYPE_CHECKING, NoReturn

from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data.trec import Qrels, Run

LARGEST_SCORE = 3.4028234663852886e38
"""trec_eval keeps scores as 32-bit floats: anything larger would become infinite, and tie."""

LARGEST_RELEVANCE = 1_000_000
"""trec_eval keeps one counter per level of relevance: a huge level would need a huge array."""


def checked_scores(run: Run) -> Run:
    """The run with finite scores as Python floats; pytrec_eval rejects NumPy's 32-bit floats."""
    return {question: _question_scores(question, scores) for question, scores in run.items()}


def checked_labels(qrels: Qrels) -> Qrels:
    """The relevance judgements as Python integers."""
    _check_ids("the correct answers", qrels)
    return {question: _question_labels(question, labels) for question, labels in qrels.items()}


def _question_scores(question: str, scores: Mapping[str, float]) -> dict[str, float]:
    _check_ids(f"question {question!r} of the run", scores)
    try:
        plain = dict(zip(scores, map(float, scores.values()), strict=True))
    except (TypeError, ValueError) as error:
        raise CascadaError(f"A score of question {question!r} is not a number: {error}.") from error
    if not all(map(isfinite, plain.values())) or max(map(abs, plain.values()), default=0) > LARGEST_SCORE:
        _reject_score(question, plain)
    return plain


def _reject_score(question: str, scores: Mapping[str, float]) -> NoReturn:
    # `not … <=` rather than `>`, because every comparison with NaN is false.
    culprit = next(candidate for candidate, score in scores.items() if not abs(score) <= LARGEST_SCORE)
    raise CascadaError(
        f"The score of candidate {culprit!r} for question {question!r} is {scores[culprit]}; "
        "a score must be finite, also as a 32-bit float."
    )


def _question_labels(question: str, labels: Mapping[str, int]) -> dict[str, int]:
    _check_ids(f"question {question!r} of the correct answers", labels)
    # Check the distinct types rather than every label, which would be the slowest step of all.
    whole = all(issubclass(kind, Integral) for kind in set(map(type, labels.values())))
    if not whole or max(map(abs, labels.values()), default=0) > LARGEST_RELEVANCE:
        _reject_label(question, labels)
    return dict(zip(labels, map(int, labels.values()), strict=True))


def _reject_label(question: str, labels: Mapping[str, int]) -> NoReturn:
    culprit = next(
        c for c, label in labels.items() if not isinstance(label, Integral) or abs(label) > LARGEST_RELEVANCE
    )
    raise CascadaError(
        f"The relevance of candidate {culprit!r} for question {question!r} is {labels[culprit]!r}; "
        f"it must be a whole number up to {LARGEST_RELEVANCE:,}."
    )


def _check_ids(where: str, ids: Iterable[str]) -> None:
    """Reject ids that are not C strings: a lone surrogate would crash the process, and a NUL would end the id."""
    try:
        if "\0" in (joined := "".join(ids)):
            raise CascadaError(f"An id in {where} contains a NUL character.")
        joined.encode()
    except TypeError as error:
        raise CascadaError(f"The ids in {where} must be strings.") from error
    except UnicodeEncodeError as error:
        raise CascadaError(f"An id in {where} is not valid Unicode: {error}.") from error
