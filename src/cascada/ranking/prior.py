"""What the first stage thought of the candidates: counted into the final order, or trusted alone if it is sure."""

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
    """The scores that the candidates bring under "prior", (candidates,); None if they bring none."""
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
    """The first stage's places, from 0: by the scores that candidates bring, else by the order they come in."""
    scores = first_stage_scores(candidates)
    if scores is None:
        return np.arange(len(candidates))
    return np.searchsorted(np.sort(-scores), -scores)  # candidates with equal scores share a place


def with_prior(outcome: Outcome, place: Ints, weight: float, probability: Callable[[Floats], Floats]) -> Outcome:
    """Count the first stage's places into the scores of the candidates that went furthest.

    Both opinions are standardised, the first stage's as the logarithm of its place. Its weight is `weight` times the
    square of their correlation: a first stage that contradicts the ranker counts for nothing. The best score stays
    what it was, so that it still says whether anything answers.
    """
    last = np.flatnonzero(outcome.stage == outcome.stage.max())
    own, prior = outcome.raw[last], _standardised(-np.log1p(place))[last]
    agreement = max(float((_standardised(own) * _standardised(prior)).mean()), 0.0)
    both = own + own.std() * weight * agreement**2 * prior
    raw, scores, probabilities = outcome.raw.copy(), outcome.scores.copy(), outcome.probability.copy()
    raw[last] = both + (own.max() - both.max())
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
