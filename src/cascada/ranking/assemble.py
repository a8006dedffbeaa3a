"""Assemble rankings: from what the stages computed about a group to the items that a call asks for, and their cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cascada.ranking.executor import Outcome
from cascada.ranking.inputs import CheckedGroup, RankOptions, text_of
from cascada.ranking.long_texts import ReadTexts
from cascada.ranking.prior import is_sure, places, sure_scores, trusted, with_prior
from cascada.ranking.result import Item, Ranking, StageCost
from cascada.ranking.selection import is_likely, selected
from cascada.ranking.stage import Stage
from cascada.text.sentence_windows import Span


@dataclass(frozen=True)
class Computed:
    """What the stages computed for one group."""

    group: CheckedGroup
    outcome: Outcome
    spans: Sequence[Span | None]
    """For each candidate, the part of its text that it is ranked by; None if that is all of it."""


def computed_groups(
    batch: Sequence[CheckedGroup],
    outcomes: Sequence[Outcome],
    read: ReadTexts,
    options: RankOptions,
    stages: Sequence[Stage],
) -> Iterator[Computed]:
    """Each group with its outcome, with the texts that were cut marked and the first stage's order blended in."""
    start = 0
    for group, outcome in zip(batch, outcomes, strict=True):
        cut = read.cut[start : start + len(group.candidates)]
        start += len(group.candidates)
        outcome = replace(outcome, truncated=outcome.truncated | cut)
        if options.prior:
            probability = stages[int(outcome.stage.max())].probability
            outcome = with_prior(outcome, places(group.candidates), options.prior, probability)
        yield Computed(group, outcome, [read.spans[row] for row in outcome.row.tolist()])


def ranking_of(computed: Computed, options: RankOptions, stages: Sequence[Stage], *, full: int) -> Ranking:
    """The ranking that a call returns; its cost is relative to the last `full` stages."""
    outcome = computed.outcome
    scores = outcome.probability[outcome.order]
    chosen = selected(scores, top=options.top, min_score=options.min_score, cut=options.cut)
    layers_run = sum(
        stage.layers * int(texts) for stage, texts in zip(stages, outcome.texts - outcome.cached, strict=True)
    )
    all_layers = sum(stage.layers for stage in stages[-full:]) * int(outcome.texts[0])
    return Ranking(
        question=computed.group.question,
        items=tuple(_item(computed, index, stages) for index in outcome.order[chosen].tolist()),
        relative_cost=layers_run / all_layers if all_layers else 1.0,
        stages=_costs(outcome, stages),
        full_flops=int(outcome.full_flops[-full:].sum()),
        complete=outcome.complete,
        likely=is_likely(float(scores[0]), options.min_score) if stages[-1].exit else None,
    )


def is_skipped(group: CheckedGroup, options: RankOptions) -> bool:
    """Whether the first stage is sure enough not to rank the group."""
    return options.skip_if_sure is not None and is_sure(sure_scores(group.candidates), options.skip_if_sure)


def skipped_ranking(group: CheckedGroup, options: RankOptions, stages: Sequence[Stage]) -> Ranking:
    """The first stage's own ranking, for which no stage is run."""
    outcome = trusted(sure_scores(group.candidates), len(stages))
    computed = Computed(group, outcome, [None] * len(group.candidates))
    ranking = ranking_of(computed, options, stages, full=len(stages))
    return replace(ranking, skipped=True, likely=None, relative_cost=0.0)


def reselected(ranking: Ranking, options: RankOptions) -> Ranking:
    """The part of a whole ranking that these options return."""
    scores = np.array([item.score for item in ranking])
    chosen = selected(scores, top=options.top, min_score=options.min_score, cut=options.cut)
    likely = None if ranking.likely is None else is_likely(float(scores[0]), options.min_score)
    return replace(ranking, items=tuple(ranking.items[place] for place in chosen), likely=likely)


def _item(computed: Computed, index: int, stages: Sequence[Stage]) -> Item:
    candidate, outcome = computed.group.candidates[index], computed.outcome
    stage = int(outcome.stage[index])
    return Item(
        text=text_of(candidate),
        score=float(outcome.probability[index]),
        raw_score=float(outcome.raw[index]),
        index=index,
        exit=stages[stage].exit if stage >= 0 else 0,
        scores=tuple(outcome.scores[: stage + 1, index].tolist()),
        truncated=bool(outcome.truncated[index]),
        document=candidate,
        window=computed.spans[index],
    )


def _costs(outcome: Outcome, stages: Sequence[Stage]) -> tuple[StageCost, ...]:
    scored = np.isfinite(outcome.scores).sum(1)
    rows = zip(stages, scored, outcome.flops, outcome.seconds, outcome.texts, outcome.cached, strict=True)
    return tuple(
        StageCost(stage.exit, int(n), int(flops), float(seconds), int(texts), int(cached))
        for stage, n, flops, seconds, texts, cached in rows
    )
