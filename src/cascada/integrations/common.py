"""What all integrations share: what they accept as a ranker, the options that they pass on, and scores that sort as the
ranking does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack, cast, runtime_checkable

import numpy as np

from cascada.ranking import Pruned, Ranker, Ranking
from cascada.ranking.checks import is_number
from cascada.ranking.inputs import RankArguments, RankOptions
from cascada.ranking.long_texts import Long
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.prune import PruneArguments
from cascada.ranking.result import TextOrMapping
from cascada.ranking.selection import Cut

OnRanking = Callable[[Ranking], object]
"""Called with every `Ranking`: whether anything is likely to answer, the cost, the exit each candidate reached."""


class Options(TypedDict, total=False):
    """The arguments of `Ranker.rank` that every integration passes on, whatever its framework calls `top`."""

    drop: Drop
    keep: Keep | None
    min_score: float | None
    cut: Cut | None
    deadline_ms: float | None
    long: Long | None
    max_tokens: int | None
    prior: float | bool | None
    skip_if_sure: float | None


@runtime_checkable
class SupportsRank(Protocol):
    """A `Ranker`, or a `cascada.client.Client` of a server."""

    def rank(
        self, question: str, candidates: Sequence[TextOrMapping], **arguments: Unpack[RankArguments]
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


def checked(options: Options) -> Options:
    """The options, or an error about the first that is unknown or has a wrong value."""
    RankOptions.of(**options)
    return options


def options_in(settings: Any) -> Options:
    """The options among the attributes of an object."""
    return cast(Options, {name: getattr(settings, name) for name in Options.__annotations__})


def candidates_of(texts: Sequence[str], scores: Sequence[Any], options: Options) -> Sequence[TextOrMapping]:
    """The candidates, with the first stage's scores if the options use them and each candidate has one.

    Without scores, the order of the texts counts.
    """
    wanted = options.get("prior") or options.get("skip_if_sure") is not None
    if not wanted or not all(is_number(score) and np.isfinite(score) for score in scores):
        return texts
    return [{"text": text, "prior": float(score)} for text, score in zip(texts, scores, strict=True)]


def rank_groups(
    ranker: SupportsRank, groups: Iterable[tuple[str, Sequence[TextOrMapping]]], options: Options
) -> Iterator[Ranking]:
    """Rank each (question, candidates); in shared batches, unless each has its own deadline or a server ranks."""
    if isinstance(ranker, Ranker) and options.get("deadline_ms") is None:
        yield from ranker.rank_many(groups, **options)
        return
    for question, candidates in groups:
        yield ranker.rank(question, candidates, **options)


def descending_scores(ranking: Ranking, *, raw: bool = False) -> list[float]:
    """Scores in [0, 1], or `raw` ones, in the order of the ranking, for libraries that sort by score.

    A candidate that was dropped early ranks behind the survivors, although its score, from an earlier exit, may be
    higher. It then gets the next smaller 32-bit float: trec_eval reads scores in this precision.
    """
    scores: list[np.float32] = []
    lowest = np.float32(-np.inf if raw else 0)
    for item in ranking:
        score = np.float32(item.raw_score if raw else item.score)
        if scores and score > scores[-1]:
            score = np.nextafter(scores[-1], lowest)
        scores.append(score)
    return [float(score) for score in scores]
