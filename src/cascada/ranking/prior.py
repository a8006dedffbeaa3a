"""The first stage's ranking as a prior: blended into the final order, or returned as it is if it is clear enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.checks import is_number
from cascada.ranking.executor import Outcome, in_order
from cascada.ranking.result import TextOrMapping
from cascada.ranking.stage import Floats, Ints

PRIOR = 2.0
"""The default weight, chosen on TREC-DL 2021's lists of BM25 and SPLADE."""


def first_stage_scores(candidates: Sequence[TextOrMapping]) -> Floats | None:
    """The scores that the candidates have under "prior", (candidates,); None if they have none."""
    scores = [candidate.get("prior") if isinstance(candidate, Mapping) else None for candidate in candidates]
    missing = [index for index, score in enumerate(scores) if score is None]
    if len(missing) == len(scores):
        return None
    if missing:
        raise CascadaError(f'Candidate {missing[0]} has no "prior", but others have one: give it to all or to none.')
    for index, score in enumerate(scores):
        if not is_number(score) or not np.isfinite(score):  # type: ignore[arg-type]
            raise CascadaError(f'The "prior" of candidate {index} is {score!r}; it must be a finite number.')
    return np.array(scores, np.float64)


def places(candidates: Sequence[TextOrMapping]) -> Ints:
    """The candidates' ranks in the first stage, from 0: by their "prior" scores, else by their order."""
    scores = first_stage_scores(candidates)
    if scores is None:
        return np.arange(len(candidates))
    return np.searchsorted(np.sort(-scores), -scores)  # candidates with equal scores share a rank


def with_prior(outcome: Outcome, place: Ints, weight: float, probability: Callable[[Floats], Floats]) -> Outcome:
    """Blend the first stage's ranks into the scores of the candidates that reached the furthest stage.

    Raw scores and the negative logarithms of the ranks are both standardised. The ranks' weight is `weight` times the
    squared correlation of the two, or 0 if the correlation is negative. The best score is kept at its value, so that it
    still tells whether any candidate is likely to be an answer.
    """
    last = np.flatnonzero(outcome.stage == outcome.stage.max())
    before, prior = outcome.raw[last], _standardised(-np.log1p(place))[last]
    correlation = max(float((_standardised(before) * _standardised(prior)).mean()), 0.0)
    blended = before + before.std() * weight * correlation**2 * prior
    raw, scores, probabilities = outcome.raw.copy(), outcome.scores.copy(), outcome.probability.copy()
    raw[last] = blended + (before.max() - blended.max())
    scores[outcome.stage[last], last] = raw[last]
    probabilities[last] = probability(raw[last])
    order = in_order(raw, outcome.stage)
    return replace(outcome, raw=raw, scores=scores, probability=probabilities, order=order)


def sure_scores(candidates: Sequence[TextOrMapping]) -> Floats:
    """The scores that `skip_if_sure` needs."""
    scores = first_stage_scores(candidates)
    if scores is None:
        raise CascadaError('skip_if_sure compares the first stage\'s scores: give each candidate one as "prior".')
    return scores


def is_sure(scores: Floats, margin: float) -> bool:
    """Whether the best score is ahead of the second by `margin` standard deviations of the others."""
    if len(scores) < 2:
        return True
    ahead = np.sort(scores)[::-1]
    deviation = float(ahead[1:].std())
    return bool(ahead[0] > ahead[1] and ahead[0] - ahead[1] >= margin * deviation)


def trusted(scores: Floats, stages: int) -> Outcome:
    """The first stage's own order, without running any stage; its scores are scaled to [0, 1]."""
    spread = max(float(scores.max() - scores.min()), 1e-12)
    raw = scores.astype(np.float32)
    nothing = np.zeros(stages, np.int64)
    return Outcome(
        order=np.argsort(-scores, kind="stable"),
        scores=np.full((stages, len(scores)), np.nan, np.float32),
        raw=raw,
        probability=((scores - scores.min()) / spread).astype(np.float32),
        stage=np.full(len(scores), -1),
        truncated=np.zeros(len(scores), bool),
        row=np.arange(len(scores)),
        texts=nothing,
        cached=nothing,
        flops=nothing,
        full_flops=nothing,
        seconds=np.zeros(stages, np.float32),
        complete=True,
    )


def _standardised(numbers: Floats) -> Floats:
    """With mean 0 and standard deviation 1; all 0 if they are equal."""
    deviations = numbers - numbers.mean()
    return deviations / max(float(deviations.std()), 1e-9)  # type: ignore[no-any-return]
