"""What all of them share: whoever ranks, and scores that stand in the order of the ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from cascada.ranking import Ranker, Ranking
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.result import Document


@runtime_checkable
class Ranks(Protocol):
    """A `Ranker`, or a `cascada.client.Client` of a server."""

    def rank(
        self,
        question: str,
        candidates: Sequence[Document],
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        deadline_ms: float | None = None,
    ) -> Ranking: ...


def ranker_of(model: str | Path | Ranks | None) -> Ranks:
    """The one that is given, or the one of that name."""
    return Ranker.load(model) if model is None or isinstance(model, (str, Path)) else model


def rankings(
    ranker: Ranks,
    groups: Iterable[tuple[str, Sequence[Document]]],
    *,
    drop: Drop = None,
    keep: Keep | None = None,
    deadline_ms: float | None = None,
) -> Iterator[Ranking]:
    """The ranking of each (question, candidates); computed together where there is no deadline for each."""
    if isinstance(ranker, Ranker) and deadline_ms is None:
        yield from ranker.rank_many(groups, drop=drop, keep=keep)
        return
    for question, candidates in groups:
        yield ranker.rank(question, candidates, drop=drop, keep=keep, deadline_ms=deadline_ms)


def falling(ranking: Ranking) -> list[float]:
    """Scores in [0, 1] that sort as the ranking does, which others will do by score.

    Who left early stands behind who stayed, though its score, an earlier exit's, may be higher. Then it gets the next
    number below the one before it; as a 32-bit float, because trec_eval reads scores as such.
    """
    scores: list[np.float32] = []
    for item in ranking:
        score = np.float32(item.score)
        if scores and score > scores[-1]:
            score = max(np.nextafter(scores[-1], np.float32(-1)), np.float32(0))
        scores.append(score)
    return [float(score) for score in scores]
