"""Which candidates survive which plan: all plans of a question at once, by the executor's rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascada.ranking.executor import best_first
from cascada.ranking.plan import Plan, dropped, dropped_of, has_margins
from cascada.ranking.stage import Floats, Ints
from cascada.ranking.tuning.scores import ScoredQuestion


class PlanTable:
    """Tabulates how many candidates survive each exit of each plan, for questions of up to `most` candidates."""

    def __init__(self, plans: Sequence[Plan], most: int) -> None:
        rules = list(dict.fromkeys(rule for plan in plans for rule in plan))
        number = {rule: index for index, rule in enumerate(rules)}
        self._rules = np.array([[number[rule] for rule in plan] for plan in plans]).reshape(len(plans), -1)
        # (rules, survivors): how many survive, computed once for each rule and each number of candidates
        self._kept = np.array([[count - dropped(rule, count) for count in range(most + 1)] for rule in rules])

    def kept(self, candidates: int) -> Ints:
        """How many of this many candidates survive each exit, (plans, exits - 1)."""
        kept = np.empty(self._rules.shape, np.int64)
        survivors = np.full(len(kept), candidates)
        for exit, rules in enumerate(self._rules.T):
            survivors = kept[:, exit] = self._kept[rules, survivors]
        return kept


def kept_by_margins(plans: Sequence[Plan], scores: Floats) -> Ints:
    """How many candidates of a question survive each exit, (plans, exits - 1), for plans that may have margins."""
    kept = np.empty((len(plans), len(scores) - 1), np.int64)
    alive = np.ones((len(plans), scores.shape[1]), bool)
    for exit, exit_scores in enumerate(scores[:-1]):
        order = best_first(exit_scores)
        ranked = alive[:, order]  # best first
        for place, plan in enumerate(plans):
            survivors = exit_scores[order[ranked[place]]]
            kept[place, exit] = len(survivors) - dropped_of(plan[exit], survivors)
        alive[:, order] = ranked & (np.cumsum(ranked, axis=1, dtype=np.int32) <= kept[:, [exit]])
    return kept


def shared_counts(plans: Sequence[Plan], questions: Sequence[ScoredQuestion]) -> Iterator[tuple[list[int], Ints]]:
    """Rows of questions with the same numbers of survivors, and these numbers for each exit: (plans, exits - 1).

    Questions with equally many candidates share them; with margins, every question has numbers of its own.
    """
    if any(has_margins(plan) for plan in plans):
        for row, question in enumerate(questions):
            yield [row], kept_by_margins(plans, question.scores)
        return
    table = PlanTable(plans, most=max(question.candidates for question in questions))
    sizes: dict[int, list[int]] = defaultdict(list)
    for row, question in enumerate(questions):
        sizes[question.candidates].append(row)
    for candidates, rows in sizes.items():
        yield rows, table.kept(candidates)


@dataclass(frozen=True)
class Level:
    """The nodes of one exit, each with its parent and the number of candidates it keeps."""

    parent: Ints  # (nodes,): a node of the previous level
    keep: Ints  # (nodes,)


@dataclass(frozen=True)
class Tree:
    """Plans that have kept the same numbers of candidates so far have the same survivors, so they share a node."""

    levels: tuple[Level, ...]
    leaf: Ints  # (plans,): each plan's node in the last level

    @property
    def leaves(self) -> int:
        """The number of nodes in the last level."""
        return len(self.levels[-1].keep) if self.levels else 1


def tree_of(kept: Ints) -> Tree:
    """The tree of plans that keep these numbers of candidates, (plans, exits - 1)."""
    levels = []
    node = np.zeros(len(kept), np.int64)
    most = int(kept.max(initial=0)) + 1
    for keep in kept.T:
        codes, node = np.unique(node * most + keep, return_inverse=True)
        levels.append(Level(codes // most, codes % most))
    return Tree(tuple(levels), node)


def last_exits(scores: Floats, tree: Tree) -> NDArray[np.int8]:
    """The index of the last exit that each candidate of a question reaches, (leaves, candidates)."""
    candidates = scores.shape[1]
    alive = np.ones((1, candidates), bool)
    last = np.zeros((1, candidates), np.int8)
    for level, exit_scores in zip(tree.levels, scores, strict=False):
        order = best_first(exit_scores)
        ranked = alive[level.parent][:, order]  # (nodes, candidates), best first
        survives = ranked & (np.cumsum(ranked, axis=1, dtype=np.int32) <= level.keep[:, None])
        alive = np.empty_like(survives)
        alive[:, order] = survives
        last = last[level.parent] + alive
    return last
