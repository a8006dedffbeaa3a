"""Who survives which setting: every setting of a question at once, by the executor's rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cascada.ranking.executor import best_first
from cascada.ranking.plan import Plan, dropped
from cascada.ranking.stage import Floats, Ints


class Settings:
    """Plans that can be replayed on questions of up to `most` candidates."""

    def __init__(self, plans: Sequence[Plan], most: int) -> None:
        rules = list(dict.fromkeys(rule for plan in plans for rule in plan))
        number = {rule: place for place, rule in enumerate(rules)}
        self._rules = np.array([[number[rule] for rule in plan] for plan in plans]).reshape(len(plans), -1)
        # Each rule is asked once for each number of survivors, and never again: (rules, survivors) → who stays.
        self._stay = np.array([[many - dropped(rule, many) for many in range(most + 1)] for rule in rules])

    def kept(self, candidates: int) -> Ints:
        """How many of so many candidates stay after each exit: (plans, exits - 1)."""
        kept = np.empty(self._rules.shape, np.int64)
        survivors = np.full(len(kept), candidates)
        for exit, rules in enumerate(self._rules.T):
            survivors = kept[:, exit] = self._stay[rules, survivors]
        return kept


@dataclass(frozen=True)
class Level:
    """The nodes of one exit: whose survivors they begin with, and how many of them they keep."""

    parent: Ints  # (nodes,): a node of the level before
    keep: Ints  # (nodes,)


@dataclass(frozen=True)
class Tree:
    """Settings that have kept the same numbers so far have the same survivors: one node for all of them."""

    levels: tuple[Level, ...]
    leaf: Ints  # (plans,): the node of the last level where each plan ends

    @property
    def leaves(self) -> int:
        return len(self.levels[-1].keep) if self.levels else 1


def tree_of(kept: Ints) -> Tree:
    """The tree of the numbers that stay after each exit, (plans, exits - 1)."""
    levels = []
    node = np.zeros(len(kept), np.int64)
    most = int(kept.max(initial=0)) + 1
    for keep in kept.T:
        codes, node = np.unique(node * most + keep, return_inverse=True)
        levels.append(Level(codes // most, codes % most))
    return Tree(tuple(levels), node)


def last_exits(scores: Floats, tree: Tree) -> NDArray[np.int8]:
    """The place of the exit at which each candidate of a question is ranked: (leaves, candidates)."""
    candidates = scores.shape[1]
    alive = np.ones((1, candidates), bool)
    last = np.zeros((1, candidates), np.int8)
    for level, exit_scores in zip(tree.levels, scores, strict=False):
        order = best_first(exit_scores)
        ranked = alive[level.parent][:, order]  # (nodes, candidates), best first
        stays = ranked & (np.cumsum(ranked, axis=1, dtype=np.int32) <= level.keep[:, None])
        alive = np.empty_like(stays)
        alive[:, order] = stays
        last = last[level.parent] + alive
    return last
