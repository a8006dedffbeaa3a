"""What all integrations share: what they accept as a ranker, and scores that sort as the ranking does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, Unpack, runtime_checkable

import numpy as np

from cascada.ranking import Pruned, Ranker, Ranking
from cascada.ranking.long_texts import Long
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.prune import PruneArguments
from cascada.ranking.result import TextOrMapping


@runtime_checkable
class SupportsRank(Protocol):
    """A `Ranker`, or a `cascada.client.Client` of a server."""

    def rank(
        self,
        question: str,
        candidates: Sequence[TextOrMapping],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline_ms: float | None = None,
        long: Long | None = None,
    ) -> Ranking: ...


@runtime_checkable
class SupportsPrune(Protocol):
    """A `Ranker`, or a `cascada.client.Client` of a server."""

    def prune(
        self, question: str, passages: Sequence[TextOrMapping], **arguments: Unpack[PruneArguments]
    ) -> Pruned: ...


def ranker_of(model: str | Path | SupportsRank | None) -> SupportsRank:
    """The ranker itself, or the one that `Ranker.load` makes of the name."""
    return Ranker.load(model) if model is None or isinstance(model, (str, Path)) else model


def rank_groups(
    ranker: SupportsRank,
    groups: Iterable[tuple[str, Sequence[TextOrMapping]]],
    *,
    drop: Drop = None,
    keep: Keep | None = None,
    deadline_ms: float | None = None,
    long: Long | None = None,
) -> Iterator[Ranking]:
    """Rank each (question, candidates); in shared batches, unless each has its own deadline or a server ranks."""
    if isinstance(ranker, Ranker) and deadline_ms is None:
        yield from ranker.rank_many(groups, drop=drop, keep=keep, long=long)
        return
    for question, candidates in groups:
        yield ranker.rank(question, candidates, drop=drop, keep=keep, deadline_ms=deadline_ms, long=long)


def descending_scores(ranking: Ranking, *, raw: bool = False) -> list[float]:
    """Scores in [0, 1], or `raw` ones, in the order of the ranking, for libraries that sort by score.

    A candidate that was dropped early ranks behind the survivors, although its score, from an earlier exit, may be
    higher. It then gets the next smaller number, as a 32-bit float because trec_eval reads scores as such.
    """
    scores: list[np.float32] = []
    lowest = np.float32(-np.inf if raw else 0)
    for item in ranking:
        score = np.float32(item.raw_score if raw else item.score)
        if scores and score > scores[-1]:
            score = np.nextafter(scores[-1], lowest)
        scores.append(score)
    return [float(score) for score in scores]
