"""Measure a run against relevance judgements, with trec_eval's arithmetic and tie rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Literal, get_args

from cascada.core.errors import CascadaError, require
from cascada.metrics.checks import checked_labels, checked_scores
from cascada.metrics.measures import DEFAULT_MEASURES, Measure

if TYPE_CHECKING:
    from cascada.data.trec import Qrels, Run

Policy = Literal["zero", "skip", "error"]
"""What to do with a question that cannot be measured: count it as 0, leave it out, or raise an error."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The values of a run's measures, for each question and on average."""

    by_question: Mapping[str, Mapping[str, float]]
    """Measure → question id → value. Every measure has the same questions."""

    @property
    def mean(self) -> dict[str, float]:
        """Measure → its mean over the questions."""
        # fsum: the order of the questions must not change even the last digit.
        return {name: fsum(values.values()) / len(values) for name, values in self.by_question.items()}

    @property
    def questions(self) -> int:
        """Number of questions that were measured."""
        return len(next(iter(self.by_question.values())))


def evaluate(
    run: Run,
    qrels: Qrels,
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    relevant: int = 1,
    without_correct: Policy = "zero",
    missing: Policy = "zero",
) -> Evaluation:
    """Measure `run` (question id → candidate id → score) on the questions of `qrels` (… → relevance).

    Candidates are ranked by score; equal scores by candidate id, the greater id first. Scores are equal if they are
    equal as 32-bit floats. A candidate that is not in `qrels` is incorrect; a question that is not in `qrels` is left
    out.

    nDCG counts graded relevance. The other measures are binary: a candidate is correct if its relevance is `relevant`
    or more (trec_eval's `-l`).

    `without_correct` applies to questions without a correct candidate, `missing` to questions for which the run has no
    candidates: `"zero"` counts them as 0, as `trec_eval -c` does, `"skip"` leaves them out, `"error"` raises.

    >>> evaluate({"q": {"a": 0.9, "b": 0.1}}, {"q": {"b": 1}}).mean["MRR"]
    0.5
    """
    parsed = _parse(measures)
    if isinstance(relevant, bool) or not isinstance(relevant, int) or relevant < 1:
        raise CascadaError(f"relevant is {relevant!r}; it must be a whole number from 1.")
    labels = checked_labels(qrels)
    _require_shared(run, labels)
    labels = _apply(
        without_correct, "without_correct", labels, _with_correct(labels, relevant), "have no correct candidate"
    )
    labels = _apply(
        missing, "missing", labels, (question for question in labels if run.get(question)), "are not in the run"
    )
    scores = checked_scores({question: run[question] for question in labels if run.get(question)})
    return Evaluation(_measure(scores, labels, parsed, relevant))


def _parse(measures: Sequence[str]) -> list[Measure]:
    if isinstance(measures, str):
        measures = [measures]
    if not measures:
        raise CascadaError("There is nothing to measure: name at least one measure, such as MAP.")
    return [Measure.parse(name) for name in measures]


def _require_shared(run: Run, qrels: Qrels) -> None:
    if not any(run.get(question) for question in qrels):
        raise CascadaError(
            f"The run and the correct answers share no question: the run has {_examples(run)}, "
            f"the answers have {_examples(qrels)}."
        )


def _with_correct(qrels: Qrels, relevant: int) -> Iterable[str]:
    return (question for question, labels in qrels.items() if max(labels.values(), default=0) >= relevant)


def _apply(policy: Policy, name: str, qrels: Qrels, good: Iterable[str], problem: str) -> Qrels:
    """The questions to measure: all of them (`"zero"`), or only the good ones."""
    if policy not in get_args(Policy):
        raise CascadaError(f'{name} is "zero", "skip" or "error", not {policy!r}.')
    if policy == "zero":
        return qrels
    kept = {question: qrels[question] for question in good}
    left_out = [question for question in qrels if question not in kept]
    if left_out and policy == "error":
        raise CascadaError(
            f'{len(left_out)} questions {problem}: {_examples(left_out)}. Set {name} to "zero" or "skip".'
        )
    if not kept:
        raise CascadaError(f"No question is left to measure: all {len(left_out)} {problem}.")
    return kept


def _measure(run: Run, qrels: Qrels, measures: list[Measure], relevant: int) -> dict[str, dict[str, float]]:
    pytrec_eval = require("pytrec_eval", "eval", "measuring")
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {measure.trec_eval for measure in measures}, relevant)
    values = evaluator.evaluate(run)
    zeros = {measure.trec_eval: 0.0 for measure in measures}  # for questions that trec_eval leaves out
    return {
        measure.name: {question: values.get(question, zeros)[measure.trec_eval] for question in qrels}
        for measure in measures
    }


def _examples(questions: Iterable[str]) -> str:
    some = [repr(question) for question in questions]
    return (", ".join(some[:3]) + (", …" if len(some) > 3 else "")) or "none"
