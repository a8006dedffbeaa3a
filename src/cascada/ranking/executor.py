"""The loop that runs every ranker: score the candidates, drop the worst, continue with the survivors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Rule, dropped_of
from cascada.ranking.stage import NO_DEADLINE, Bools, Deadline, Floats, Ints, OutOfTime, Pairs, Scored, Stage, State


@dataclass(frozen=True)
class Outcome:
    """The result for one question. All arrays except `order` are in the candidates' original order."""

    order: Ints  # (candidates,): indices, best first
    scores: Floats  # (stages, candidates): raw scores; NaN if the candidate did not reach the stage
    raw: Floats  # (candidates,): the last raw score of each
    probability: Floats  # (candidates,)
    stage: Ints  # (candidates,): index of the last stage that scored each
    truncated: Bools  # (candidates,)
    flops: Ints  # (stages,): operations spent
    full_flops: Ints  # (stages,): operations if no candidates were dropped; 0 if unknown
    seconds: Floats  # (stages,): this question's share of the time, in proportion to its operations
    complete: bool  # whether the last stage finished before the deadline


@dataclass(frozen=True)
class Step:
    """The state of a run after a stage has finished and before its candidates are dropped."""

    stage: int
    tokens: Ints  # (pairs,): of the pairs it scored; 0 if unknown
    seconds: float


Rules = Sequence[Rule] | Callable[[Step], Rule]
"""One rule for each exit but the last: fixed in advance, or chosen when the run gets there."""


def execute(stages: Sequence[Stage], pairs: Pairs, rules: Rules, deadline: Deadline = NO_DEADLINE) -> list[Outcome]:
    """Run the candidates of all questions through the stages; each question is pruned separately.

    After stage i, `dropped_of(rules[i], scores)` of a question's survivors are dropped: those with the lowest scores,
    and among equal scores those later in the list. The first stage always finishes. If the deadline stops a later
    stage, its scores are discarded, and the order is that of the stages before it.
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
        del scored  # its state is large, and the next stage needs only the survivors' rows
    trace.count_full_flops(stages)
    return trace.outcomes()


def _score(stage: Stage, pairs: Pairs, state: State | None, deadline: Deadline) -> Scored:
    deadline.check()
    scored = stage.score(pairs, state, deadline)
    if not np.isfinite(scored.scores).all():
        raise CascadaError("The ranker's scores are not numbers: its weights are damaged, or its training diverged.")
    return scored


class _Trace:
    """What happened to every candidate, recorded stage by stage."""

    def __init__(self, stages: int, owner: Ints, questions: int) -> None:
        self.owner = owner
        self.questions = questions
        self.scores = np.full((stages, len(owner)), np.nan, np.float32)
        self.probability = np.zeros(len(owner), np.float32)
        self.stage = np.zeros(len(owner), np.int64)
        self.truncated = np.zeros(len(owner), bool)
        self.tokens = np.zeros(len(owner), np.int64)
        self.flops = np.zeros((stages, questions), np.int64)
        self.extra_flops = np.zeros((stages, questions), np.int64)
        self.scored = np.zeros((stages, questions), np.int64)  # candidates
        self.full_flops = np.zeros((stages, questions), np.int64)
        self.seconds = np.zeros((stages, questions), np.float32)
        self.complete = True

    def record(self, index: int, stage: Stage, alive: Ints, scored: Scored, seconds: float) -> Step:
        self.scores[index, alive] = scored.scores
        self.scored[index] = np.bincount(self.owner[alive], minlength=self.questions)
        self.probability[alive] = stage.probability(scored.scores)
        self.stage[alive] = index
        if scored.truncated is not None:
            self.truncated[alive] |= scored.truncated
        if scored.tokens is not None:
            self.tokens[alive] = scored.tokens
        if scored.extra_flops is not None:
            self.extra_flops[index] = self._by_question(scored.extra_flops, alive)
        spent = self._by_question(stage.flops(self.tokens[alive]), alive) + self.extra_flops[index]
        self.flops[index] = spent
        share = spent if spent.any() else self.scored[index]
        self.seconds[index] = seconds * share / share.sum()
        return Step(index, self.tokens[alive], seconds)

    def count_full_flops(self, stages: Sequence[Stage]) -> None:
        """Count the operations of running all candidates through every stage.

        A candidate that was dropped before its tokens were counted is assumed to have the average length of the
        question's other candidates, and to take as many extra operations as they do on average. If no tokens were
        counted at all, the operations are unknown.
        """
        candidates = np.bincount(self.owner, minlength=self.questions)
        all_rows = np.arange(len(self.owner))
        counted = self._by_question(self.tokens > 0, all_rows)  # (questions,)
        average = np.rint(self._by_question(self.tokens, all_rows) / np.maximum(counted, 1)).astype(np.int64)
        tokens = np.where(self.tokens > 0, self.tokens, average[self.owner])
        for index, stage in enumerate(stages):
            extra = self.extra_flops[index] * candidates // np.maximum(self.scored[index], 1)
            full = self._by_question(stage.flops(tokens), all_rows) + extra
            self.full_flops[index] = full * (counted > 0)

    def outcomes(self) -> list[Outcome]:
        raw = self.scores[self.stage, np.arange(len(self.owner))]
        return [
            Outcome(
                order=np.lexsort((-raw[rows], -self.stage[rows])),  # by the stage reached, then by the last score
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
        """The sum for each question, (questions,)."""
        total = np.zeros(self.questions, np.int64)
        np.add.at(total, self.owner[rows], numbers)
        return total


def survivors(scores: Floats, owner: Ints, rule: Rule) -> Ints:
    """The rows that survive, in their order."""
    keep = np.ones(len(scores), bool)
    for rows in rows_of(owner, int(owner.max(initial=-1)) + 1):
        count = dropped_of(rule, scores[rows]) if len(rows) else 0
        if count:
            keep[rows[best_first(scores[rows])[-count:]]] = False
    return np.flatnonzero(keep)


def best_first(scores: Floats) -> Ints:
    """Indices by descending score; equal scores keep their order."""
    return np.argsort(-scores, kind="stable")


def rows_of(owner: Ints, questions: int) -> list[Ints]:
    """The rows of each question, in their order."""
    counts = np.bincount(owner, minlength=questions)
    return np.split(np.argsort(owner, kind="stable"), np.cumsum(counts)[:-1])
