"""What trec_eval's C code takes on trust, checked before it gets there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from numbers import Integral
from typing import TYPE_CHECKING, NoReturn

from cascada.core.errors import CascadaError

if TYPE_CHECKING:
    from cascada.data.trec import Qrels, Run
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


def _question_scores(question: str, scores: Mapping[str, float]) -> dict[str, float]:
    _check_ids(f"question {question!r} of the run", scores)
    try:
        plain = dict(zip(scores, map(float, scores.values()), strict=True))
    except (TypeError, ValueError) as error:
        raise CascadaError(f"A score of question {question!r} is not a number: {error}.") from error
    if not all(map(isfinite, plain.values())) or max(map(abs, plain.values()), default=0) > LARGEST_SCORE:
        _refuse_score(question, plain)
    return plain


def _refuse_score(question: str, scores: Mapping[str, float]) -> NoReturn:
    # Asked this way round because NaN is neither smaller nor larger than anything.
    culprit = next(candidate for candidate, score in scores.items() if not abs(score) <= LARGEST_SCORE)
    raise CascadaError(
        f"The score of candidate {culprit!r} for question {question!r} is {scores[culprit]}; "
        "a score must be finite, also as a 32-bit float."
    )


def _question_labels(question: str, labels: Mapping[str, int]) -> dict[str, int]:
    _check_ids(f"question {question!r} of the correct answers", labels)
    # By type, not by label: there are many labels, and asking each one is the slowest step of all.
    whole = all(issubclass(kind, Integral) for kind in set(map(type, labels.values())))
    if not whole or max(map(abs, labels.values()), default=0) > LARGEST_RELEVANCE:
        _refuse_label(question, labels)
    return dict(zip(labels, map(int, labels.values()), strict=True))


def _refuse_label(question: str, labels: Mapping[str, int]) -> NoReturn:
    culprit = next(
        c for c, label in labels.items() if not isinstance(label, Integral) or abs(label) > LARGEST_RELEVANCE
    )
    raise CascadaError(
        f"The relevance of candidate {culprit!r} for question {question!r} is {labels[culprit]!r}; "
        f"it must be a whole number up to {LARGEST_RELEVANCE:,}."
    )


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
