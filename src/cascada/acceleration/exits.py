"""Add exits that learn the model's own order from stored states, and score all pairs at every exit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
import torch

from cascada.acceleration.heads import Learned, learn_heads, score_scaling
from cascada.acceleration.heads import Lists as StoredLists
from cascada.acceleration.lists import Lists
from cascada.acceleration.parts import Parts
from cascada.acceleration.pooled import PooledNetwork
from cascada.acceleration.states import States, pairs_of
from cascada.data.group import Group
from cascada.encoders.late_interaction import ExitZero
from cascada.ranking.executor import best_first
from cascada.ranking.stage import NO_DEADLINE, Floats, Ints
from cascada.ranking.tuning import ExitScores, ScoredQuestion
from cascada.systems.cross_encoder.folder import with_added_exits
from cascada.systems.cross_encoder.shape import ExitHead

Step = Callable[[str, int, str], AbstractContextManager[Callable[[int], None]]]
"""Begins a step, given its name, its total and the unit; yields a function to call with the amount that was done."""


@dataclass(frozen=True)
class Lessons:
    """What exits learn from: questions, and the original model's scores."""

    questions: Lists
    scores: Floats  # (pairs,)
    parts: Parts
    seed: int = 0

    @property
    def owner(self) -> Ints:
        """The number of the question of each pair, (pairs,)."""
        groups = self.questions.groups
        return np.repeat(np.arange(len(groups)), [len(group.candidates) for group in groups])

    def part(self, numbers: Ints) -> tuple[list[Group], Floats]:
        """Some of the questions, by number, and the model's scores of their candidates."""
        rows = np.isin(self.owner, numbers)
        return [self.questions.groups[number] for number in numbers], self.scores[rows]


def taught(
    network: PooledNetwork, exits: tuple[int, ...], states: States, lessons: Lessons, step: Step
) -> PooledNetwork:
    """The same network with exits; the weights of its layers and of its own head are not touched."""
    width, learned = _heads(states, lessons, step)
    changed = with_added_exits(network.network, exits, ExitHead("both", width))
    for layer, head in learned.items():
        changed.heads[str(layer)].load_state_dict(head.head.state_dict())
    cascade = PooledNetwork(changed, network.tokenizer)
    if changed.exit_zero:
        changed.exit_zero.set_idf(network.tokenizer, lessons.questions.texts)
        groups, wanted = lessons.part(lessons.parts.heads)
        changed.exit_zero.rescale(*score_scaling(_exit_zero_scores(cascade, groups), wanted))
    return cascade


def _heads(states: States, lessons: Lessons, step: Step) -> tuple[int, dict[int, Learned]]:
    lists = {layer: StoredLists(values, lessons.scores, lessons.owner) for layer, values in states.layers.items()}
    if not lists:
        return 0, {}
    parts = lessons.parts
    with step("learning heads", 2 * len(lists), "heads") as advance:
        return learn_heads(lists, parts.heads, parts.plan, seed=lessons.seed, advance=advance)


def _exit_zero_scores(cascade: PooledNetwork, groups: Sequence[Group]) -> Floats:
    network = cascade.network
    assert network.exit_zero is not None
    stage = ExitZero(network.exit_zero.vectors(network.encoder), cascade.tokenizer)
    return stage.score(pairs_of(groups), None, NO_DEADLINE).scores


def exit_scores(cascade: PooledNetwork, states: States, lessons: Lessons) -> ExitScores:
    """The scores of all pairs at every exit, with the original model's best candidate as the correct one."""
    groups, exits, rows = lessons.questions.groups, cascade.network.shape.exits, []
    for exit in exits[:-1]:
        if exit:
            with torch.inference_mode():
                head = cascade.network.heads[str(exit)].cpu()
                rows.append(head(torch.from_numpy(states.layers[exit].astype(np.float32)))[:, 0].numpy())
        else:
            rows.append(_exit_zero_scores(cascade, groups))
    ends = np.cumsum([len(group.candidates) for group in groups])[:-1]
    by_question = np.split(np.stack([*rows, states.scores]), ends, axis=1)  # each (exits, candidates)
    questions = tuple(map(_judged, groups, by_question, np.split(lessons.scores, ends)))
    return ExitScores(exits, tuple(np.diff((0, *exits)).tolist()), exits[-1], questions)


def _judged(group: Group, scores: Floats, wanted: Floats) -> ScoredQuestion:
    """A question whose only correct candidate is the one that the model scores highest."""
    labels, best = np.zeros(scores.shape[1], np.int64), int(best_first(wanted)[0])
    labels[best] = 1
    return ScoredQuestion(scores, labels, tuple(str(candidate.id) for candidate in group.candidates), best)
