"""Rows of a study that drop candidates: cascades with drop ratios, and sequential rankers of a study's own models.

Nothing is ranked again: the scores of every exit are replayed with each plan (see `cascada.ranking.tuning`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

import numpy as np

from cascada.data import Group, Run
from cascada.metrics import Evaluation
from cascada.ranking.plan import Plan
from cascada.ranking.stage import Exit
from cascada.ranking.tuning import ExitScores, replay
from cascada.ranking.tuning.replay import COST
from cascada.ranking.tuning.scores import scored_question

Drops = Mapping[str, float | tuple[float, ...]]
"""Name of a row's suffix → a ratio for every exit after a layer, or one ratio for each exit but the last."""


def cascade_scores(runs: Sequence[Run], exits: Sequence[int], groups: Sequence[Group]) -> ExitScores:
    """The scores of a cascade, from a run for each of its exits."""
    layers = tuple(int(layer) for layer in np.diff([0, *exits]))
    return _scores(runs, tuple(exits), layers, exits[-1], groups)


def sequence_scores(runs: Sequence[Run], layers: Sequence[int], groups: Sequence[Group]) -> ExitScores:
    """The scores of a sequential ranker, from a run for each of its models and their numbers of layers."""
    return _scores(runs, tuple(layers), tuple(layers), layers[-1], groups)


def _scores(
    runs: Sequence[Run], exits: tuple[int, ...], layers: tuple[int, ...], full: int, groups: Sequence[Group]
) -> ExitScores:
    questions = []
    for group in groups:
        if group.candidates:
            own = [[run[str(group.id)][str(candidate.id)] for candidate in group.candidates] for run in runs]
            questions.append((str(group.id), scored_question(group, np.array(own, np.float64))))
    return ExitScores(exits, layers, full, tuple(question for _, question in questions))


def dropped(
    scores: ExitScores, drops: Drops, measures: Sequence[str], groups: Sequence[Group]
) -> Iterator[tuple[str, Evaluation, float]]:
    """(name, evaluation, relative cost) for each of the drops that fits the number of exits."""
    plans = {name: plan for name, drop in drops.items() if (plan := plan_of(drop, scores.exits)) is not None}
    names = [str(group.id) for group in groups if group.candidates]
    rows = [replay(scores.take([place]), list(plans.values()), measures) for place in range(len(names) if plans else 0)]
    for place, name in enumerate(plans):
        values = {question: figures.row(place) for question, figures in zip(names, rows, strict=True)}
        by_question = {measure: {question: row[measure] for question, row in values.items()} for measure in measures}
        yield name, Evaluation(by_question), float(np.mean([row[COST] for row in values.values()]))


def plan_of(drop: float | tuple[float, ...], exits: Sequence[Exit]) -> Plan | None:
    """The plan of a ranker with these exits; None for a list of another length. One ratio leaves exit 0 as it is."""
    if isinstance(drop, tuple):
        return tuple(Decimal(str(ratio)) for ratio in drop) if len(drop) == len(exits) - 1 else None
    return tuple(Decimal(str(drop)) if exit else Decimal(0) for exit in exits[:-1])
