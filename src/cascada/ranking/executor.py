"""The loop that runs every ranker: score the candidates, drop the worst, continue with the survivors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.ranking.plan import AtLeast, Margin, Rule, dropped_of, drops_nobody
from cascada.ranking.score_cache import CachedRun, ScoreCache
from cascada.ranking.stage import NO_DEADLINE, Bools, Deadline, Floats, Ints, OutOfTime, Pairs, Scored, Stage
from cascada.ranking.stage_run import StageRun


@dataclass(frozen=True)
class Outcome:
    """The result for one question. All arrays except `order` are in the candidates' original order."""

    order: Ints  # (candidates,): indices, best first
    scores: Floats  # (stages, candidates): raw scores; NaN if the candidate did not reach the stage
    raw: Floats  # (candidates,): the last raw score of each
    probability: Floats  # (candidates,)
    stage: Ints  # (candidates,): index of the last stage that scored each
    truncated: Bools  # (candidates,)
    row: Ints  # (candidates,): the pair that each is ranked by: its best window, if its text was divided
    texts: Ints  # (stages,): texts scored: windows, where texts were divided
    cached: Ints  # (stages,): those of them whose scores came from a cache
    flops: Ints  # (stages,): operations spent
    full_flops: Ints  # (stages,): operations if no candidates were dropped; 0 if unknown
    seconds: Floats  # (stages,): this question's share of the time, in proportion to its operations
    complete: bool  # whether the last stage finished before the deadline


@dataclass(frozen=True)
class Step:
    """The state of a run after a stage has finished and before its candidates are dropped."""

    stage: int
    tokens: Ints  # (candidates,): tokens of the best pair of each candidate that it scored; 0 if unknown
    seconds: float


Rules = Sequence[Rule] | Callable[[Step], Rule]
"""One rule for each exit but the last: fixed in advance, or chosen when the run gets there."""


def execute(
    stages: Sequence[Stage],
    pairs: Pairs,
    rules: Rules,
    deadline: Deadline = NO_DEADLINE,
    cache: ScoreCache | None = None,
) -> list[Outcome]:
    """Run the candidates of all questions through the stages; each question is pruned separately.

    After stage i, `dropped_of(rules[i], scores)` of a question's survivors are dropped: those with the lowest scores,
    and among equal scores those later in the list. The first stage always finishes. If the deadline stops a later
    stage, its scores are discarded, and the order is that of the stages before it.

    A candidate with several windows is ranked by the best of them at each stage, and only that window goes on to the
    next. After a fixed rule of ratio 0, all windows do. After a rule with a least number to keep, the survivors' next
    best windows fill the question up to that number. Scores that are in `cache` are not computed again.
    """
    trace = _Trace(len(stages), pairs)
    run = StageRun(stages, pairs) if cache is None else CachedRun(stages, pairs, cache)
    alive = np.arange(len(pairs))
    for index, stage in enumerate(stages):
        started = time.perf_counter()
        try:
            scored = run.score(index, deadline if index else NO_DEADLINE)
        except OutOfTime:
            trace.complete = False
            break
        step = trace.record(index, stage, alive, scored, time.perf_counter() - started)
        if index < len(stages) - 1:
            rule = rules(step) if callable(rules) else rules[index]
            rows = _next_rows(scored.scores, run.pairs, rule, all_windows=not callable(rules) and drops_nobody(rule))
            if len(rows) < len(alive):
                alive = alive[rows]
                run.take(rows)
    run.finish()
    trace.count_full_flops(stages)
    return trace.outcomes()


class _Trace:
    """What happened to every candidate, recorded stage by stage."""

    def __init__(self, stages: int, pairs: Pairs) -> None:
        self.owner = owner = pairs.owner
        self.questions = questions = len(pairs.questions)
        self.candidate = pairs.candidate
        self.scores = np.full((stages, len(owner)), np.nan, np.float32)
        self.probability = np.zeros(len(owner), np.float32)
        self.stage = np.zeros(len(owner), np.int64)
        self.truncated = np.zeros(len(owner), bool)
        self.tokens = np.zeros(len(owner), np.int64)
        self.flops = np.zeros((stages, questions), np.int64)
        self.extra_flops = np.zeros((stages, questions), np.int64)
        self.scored = np.zeros((stages, questions), np.int64)  # pairs
        self.cached = np.zeros((stages, questions), np.int64)  # those of them that were not computed
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
        flops = stage.flops(self.tokens[alive])
        if scored.cached is not None:
            self.cached[index] = self._by_question(scored.cached, alive)
            flops = np.where(scored.cached, 0, flops)
        spent = self._by_question(flops, alive) + self.extra_flops[index]
        self.flops[index] = spent
        share = spent if spent.any() else self.scored[index]
        self.seconds[index] = seconds * share / share.sum()
        best = best_windows(scored.scores, None if self.candidate is None else self.candidate[alive])
        return Step(index, self.tokens[alive[best]], seconds)

    def count_full_flops(self, stages: Sequence[Stage]) -> None:
        """Count the operations of running all candidates through every stage.

        A candidate that was dropped before its tokens were counted is assumed to have the average length of the
        question's other candidates, and to take as many extra operations as they do on average. If no tokens were
        counted at all, the operations are unknown.
        """
        pairs = np.bincount(self.owner, minlength=self.questions)
        all_rows = np.arange(len(self.owner))
        counted = self._by_question(self.tokens > 0, all_rows)  # (questions,)
        average = np.rint(self._by_question(self.tokens, all_rows) / np.maximum(counted, 1)).astype(np.int64)
        tokens = np.where(self.tokens > 0, self.tokens, average[self.owner])
        for index, stage in enumerate(stages):
            extra = self.extra_flops[index] * pairs // np.maximum(self.scored[index] - self.cached[index], 1)
            full = self._by_question(stage.flops(tokens), all_rows) + extra
            self.full_flops[index] = full * (counted > 0)

    def outcomes(self) -> list[Outcome]:
        raw = self.scores[self.stage, np.arange(len(self.owner))]
        best = best_windows(raw, self.candidate, self.stage)  # (candidates,): the pair that each is ranked by
        scores, truncated = self.scores, self.truncated
        if self.candidate is not None:
            first = np.searchsorted(self.candidate, np.arange(len(best)))  # each candidate's first window
            scores = np.fmax.reduceat(scores, first, axis=1)
            truncated = np.logical_or.reduceat(truncated, first)
        return [
            Outcome(
                order=in_order(raw[best[rows]], self.stage[best[rows]]),
                scores=scores[:, rows],
                raw=raw[best[rows]],
                probability=self.probability[best[rows]],
                stage=self.stage[best[rows]],
                truncated=truncated[rows],
                row=best[rows],
                texts=self.scored[:, question],
                cached=self.cached[:, question],
                flops=self.flops[:, question],
                full_flops=self.full_flops[:, question],
                seconds=self.seconds[:, question],
                complete=self.complete,
            )
            for question, rows in enumerate(rows_of(self.owner[best], self.questions))
        ]

    def _by_question(self, numbers: Ints | Bools, rows: Ints) -> Ints:
        """The sum for each question, (questions,)."""
        total = np.zeros(self.questions, np.int64)
        np.add.at(total, self.owner[rows], numbers)
        return total


def in_order(raw: Floats, stage: Ints) -> Ints:
    """Candidates by the stage they reached, then by their last score; equal ones keep their order."""
    return np.lexsort((-raw, -stage))


def best_windows(scores: Floats, candidate: Ints | None, stage: Ints | None = None) -> Ints:
    """The row of each candidate's best window, in the order of candidates: by the stage it reached, then by score."""
    if candidate is None:
        return np.arange(len(scores))
    keys = (-scores, candidate) if stage is None else (-scores, -stage, candidate)
    order = np.lexsort(keys)
    return order[np.unique(candidate[order], return_index=True)[1]]


def _next_rows(scores: Floats, pairs: Pairs, rule: Rule, *, all_windows: bool) -> Ints:
    """The pairs that go on to the next stage, in their order."""
    if all_windows:
        return np.arange(len(scores))
    best = best_windows(scores, pairs.candidate)
    rows = best[survivors(scores[best], pairs.owner[best], rule)]
    if pairs.candidate is None or not isinstance(rule, (AtLeast, Margin)):
        return rows
    return _with_next_windows(rows, scores, pairs, rule.keep)


def _with_next_windows(rows: Ints, scores: Floats, pairs: Pairs, least: int) -> Ints:
    """The surviving rows, and the next best windows of the same candidates until a question has `least` rows."""
    assert pairs.candidate is not None
    questions = len(pairs.questions)
    more = np.isin(pairs.candidate, pairs.candidate[rows])
    more[rows] = False
    others = [windows[best_first(scores[windows])] for windows in _rows_where(more, pairs.owner, questions)]
    missing = np.maximum(least - np.bincount(pairs.owner[rows], minlength=questions), 0)
    return np.sort(np.concatenate([rows, *(windows[:count] for windows, count in zip(others, missing, strict=True))]))


def _rows_where(chosen: Bools, owner: Ints, questions: int) -> list[Ints]:
    """The chosen rows of each question, in their order."""
    rows = np.flatnonzero(chosen)
    return [rows[places] for places in rows_of(owner[rows], questions)]


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
