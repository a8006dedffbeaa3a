"""The one loop that every ranker runs in: score, drop the worst, go on with the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Rule, dropped
from cascada.ranking.stage import NO_DEADLINE, Bools, Deadline, Floats, Ints, OutOfTime, Pairs, Scored, Stage, State


@dataclass(frozen=True)
class Outcome:
    """How one question's candidates came out. All arrays but `order` are in the candidates' original order."""

    order: Ints  # (candidates,): indices, best first
    scores: Floats  # (stages, candidates): raw scores; not a number where a stage did not see a candidate
    raw: Floats  # (candidates,): the last score each one got
    probability: Floats  # (candidates,)
    stage: Ints  # (candidates,): index of the stage each one left at
    truncated: Bools  # (candidates,)
    flops: Ints  # (stages,): spent
    full_flops: Ints  # (stages,): what all candidates would have taken; 0 where not known
    seconds: Floats  # (stages,): this question's share, by operations
    complete: bool  # no deadline stopped it


@dataclass(frozen=True)
class Step:
    """Where a run stands when a stage is done and its drops are due."""

    stage: int
    tokens: Ints  # (pairs,): of those it scored; 0 where not known
    seconds: float


Rules = Sequence[Rule] | Callable[[Step], Rule]
"""What each exit but the last does: written down before, or decided there."""


def execute(stages: Sequence[Stage], pairs: Pairs, rules: Rules, deadline: Deadline = NO_DEADLINE) -> list[Outcome]:
    """Run all questions' candidates through the stages; each question is pruned by itself.

    After stage i, of the k survivors of a question `dropped(rules[i], k)` leave, the lowest scores first; among equal
    scores the one that stands later in the list leaves first. The first stage always runs to its end; a later one that
    the deadline stops counts for nothing, and the order is what the stages before it found.
    """
    trace = _Trace(len(stages), pairs.owner, len(pairs.questions))
    alive = np.arange(len(pairs))
    state = None
    for index, stage in enumerate(stages):
        started = time.perf_counter()
        try:
            scored = _score(stage, pairs, state, deadline if index else NO_DEADLINE)
        except OutOfTime:
            trace.complete = False
            break
        step = trace.record(index, stage, alive, scored, time.perf_counter() - started)
        state = scored.state
        if index < len(stages) - 1:
            rows = survivors(scored.scores, pairs.owner, rules(step) if callable(rules) else rules[index])
            if len(rows) < len(alive):
                alive, pairs = alive[rows], pairs.take(rows)
                state = None if state is None else state.take(rows)
        del scored  # its state is large, and while the next stage runs only the survivors' is needed
    trace.count_everyone(stages)
    return trace.outcomes()


def _score(stage: Stage, pairs: Pairs, state: State | None, deadline: Deadline) -> Scored:
    deadline.check()
    scored = stage.score(pairs, state, deadline)
    if not np.isfinite(scored.scores).all():
        raise CascadaError("The ranker's scores are not numbers: its weights are damaged or its training diverged.")
    return scored


class _Trace:
    """What happened to everyone, filled in stage by stage."""

    def __init__(self, stages: int, owner: Ints, questions: int) -> None:
        self.owner = owner
        self.questions = questions
        self.scores = np.full((stages, len(owner)), np.nan, np.float32)
        self.probability = np.zeros(len(owner), np.float32)
        self.stage = np.zeros(len(owner), np.int64)
        self.truncated = np.zeros(len(owner), bool)
        self.tokens = np.zeros(len(owner), np.int64)
        self.flops = np.zeros((stages, questions), np.int64)
        self.besides = np.zeros((stages, questions), np.int64)
        self.full_flops = np.zeros((stages, questions), np.int64)
        self.seconds = np.zeros((stages, questions), np.float32)
        self.complete = True

    def record(self, index: int, stage: Stage, alive: Ints, scored: Scored, seconds: float) -> Step:
        self.scores[index, alive] = scored.scores
        self.probability[alive] = stage.probability(scored.scores)
        self.stage[alive] = index
        if scored.truncated is not None:
            self.truncated[alive] |= scored.truncated
        if scored.tokens is not None:
            self.tokens[alive] = scored.tokens
        if scored.besides is not None:
            self.besides[index] = self._by_question(scored.besides, alive)
        spent = self._by_question(stage.flops(self.tokens[alive]), alive) + self.besides[index]
        self.flops[index] = spent
        share = spent if spent.any() else np.bincount(self.owner[alive], minlength=self.questions)
        self.seconds[index] = seconds * share / share.sum()
        return Step(index, self.tokens[alive], seconds)

    def count_everyone(self, stages: Sequence[Stage]) -> None:
        """What it would have cost to run everyone through every stage.

        Who left before tokens were counted is taken to be as long as the question's others are on average; where no
        tokens were counted at all, nothing is known.
        """
        everyone = np.arange(len(self.owner))
        counted = self._by_question(self.tokens > 0, everyone)  # (questions,)
        average = np.rint(self._by_question(self.tokens, everyone) / np.maximum(counted, 1)).astype(np.int64)
        tokens = np.where(self.tokens > 0, self.tokens, average[self.owner])
        for index, stage in enumerate(stages):
            whole = self._by_question(stage.flops(tokens), everyone) + self.besides[index]
            self.full_flops[index] = whole * (counted > 0)

    def outcomes(self) -> list[Outcome]:
        raw = self.scores[self.stage, np.arange(len(self.owner))]
        return [
            Outcome(
                order=np.lexsort((-raw[rows], -self.stage[rows])),  # who stayed longest first, then by the last score
                scores=self.scores[:, rows],
                raw=raw[rows],
                probability=self.probability[rows],
                stage=self.stage[rows],
                truncated=self.truncated[rows],
                flops=self.flops[:, question],
                full_flops=self.full_flops[:, question],
                seconds=self.seconds[:, question],
                complete=self.complete,
            )
            for question, rows in enumerate(rows_of(self.owner, self.questions))
        ]

    def _by_question(self, numbers: Ints | Bools, rows: Ints) -> Ints:
        """Each question's sum."""
        total = np.zeros(self.questions, np.int64)
        np.add.at(total, self.owner[rows], numbers)
        return total


def survivors(scores: Floats, owner: Ints, rule: Rule) -> Ints:
    """Rows that stay in, in their order."""
    keep = np.ones(len(scores), bool)
    for rows in rows_of(owner, int(owner.max(initial=-1)) + 1):
        leaving = dropped(rule, len(rows))
        if leaving:
            keep[rows[best_first(scores[rows])[-leaving:]]] = False
    return np.flatnonzero(keep)


def best_first(scores: Floats) -> Ints:
    """Indices by falling score; equal scores keep their order."""
    return np.argsort(-scores, kind="stable")


def rows_of(owner: Ints, questions: int) -> list[Ints]:
    """Each question's rows, in their order."""
    counts = np.bincount(owner, minlength=questions)
    return np.split(np.argsort(owner, kind="stable"), np.cumsum(counts)[:-1])
