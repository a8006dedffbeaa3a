"""A cache of scores: a pair of question and text that was scored before is not computed again.

A stage's score of a pair is cached, because it does not depend on the question's other candidates. Which candidates are
dropped does depend on them, and is decided anew in every run. A pair that was dropped early last time and survives now
is computed from the first stage on: the cache keeps scores, but no states of the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cascada.ranking.stage import Bools, Deadline, Ints, Pairs, Scored, Stage
from cascada.ranking.stage_run import StageRun

if TYPE_CHECKING:
    from cascada.store.bounded_cache import BoundedCache

RECORD = np.dtype([("score", "<f4"), ("tokens", "<i4"), ("truncated", "i1")])
"""One stage's result for a pair; `tokens` or `truncated` is -1 if the stage does not report it."""


@dataclass(frozen=True)
class ScoreCache:
    """The scores of one model in a cache, which may hold those of other models, too."""

    entries: BoundedCache
    model: str
    """A digest of all that the model's scores depend on besides question and text."""

    def keys(self, pairs: Pairs) -> list[bytes]:
        """The key of each pair: a digest of the model, the question, and the text in its context."""
        from cascada.store.entries import key_of

        questions = [self.model.encode() + key_of(question) for question in pairs.questions]
        return [
            blake2b(questions[owner] + key_of(text), digest_size=24).digest()
            for owner, text in zip(pairs.owner.tolist(), pairs.texts, strict=True)
        ]


class CachedRun:
    """A `StageRun` that looks scores up before it computes them, and caches those it computed.

    Pairs whose computation began at the same stage form a part with a state of its own.
    """

    def __init__(self, stages: Sequence[Stage], pairs: Pairs, cache: ScoreCache) -> None:
        self.stages = stages
        self.pairs = pairs
        self._cache = cache
        self._all = pairs
        self._alive = np.arange(len(pairs))
        self._cacheable = [not getattr(stage, "compares_candidates", False) for stage in stages]
        self._kept = [stage for stage, cacheable in zip(stages, self._cacheable, strict=True) if cacheable]
        self._keys = cache.keys(pairs)
        self._records, self._known = _unpacked(cache.entries.get(self._keys), len(self._kept))
        self._scored = self._known.copy()  # (pairs,): how many of the kept stages have scored each
        self._parts: list[tuple[Ints, StageRun]] = []

    def score(self, index: int, deadline: Deadline) -> Scored:
        """Score the pairs at the next stage, from the cache as far as possible."""
        if not self._cacheable[index]:
            return StageRun(self.stages, self.pairs).score(index, deadline)  # it begins a ranker, and needs no state
        place = sum(self._cacheable[:index])
        cached = self._known[self._alive] > place
        extra: Ints | None = None
        self._begin(self._alive[~cached], place, deadline)
        for rows, run in self._parts:
            computed = run.score(place, deadline)
            self._record(rows, place, computed)
            if computed.extra_flops is not None:
                extra = np.zeros(len(self._all), np.int64) if extra is None else extra
                extra[rows] = computed.extra_flops
        return self._result(place, cached, None if extra is None else extra[self._alive])

    def take(self, rows: Ints) -> None:
        """Go on with these rows only."""
        self._alive = self._alive[rows]
        self.pairs = self.pairs.take(rows)
        surviving = np.zeros(len(self._all), bool)
        surviving[self._alive] = True
        parts = []
        for members, run in self._parts:
            rows = np.flatnonzero(surviving[members])
            if len(rows):
                run.take(rows)
                parts.append((members[rows], run))
        self._parts = parts

    def finish(self) -> None:
        """Write what was computed into the cache."""
        new = np.flatnonzero(self._scored > self._known)
        if len(new):
            self._cache.entries.put(
                [(self._keys[row], self._records[row, : self._scored[row]].tobytes()) for row in new.tolist()]
            )

    def _begin(self, missing: Ints, place: int, deadline: Deadline) -> None:
        """Start to compute the missing pairs that are in no part yet, because their cached scores end at this stage."""
        running = np.zeros(len(self._all), bool)
        for rows, _ in self._parts:
            running[rows] = True
        rows = missing[~running[missing]]
        if len(rows):
            run = StageRun(self._kept, _some(self._all, rows))
            for earlier in range(place):
                run.score(earlier, deadline)
            self._parts.append((rows, run))

    def _record(self, rows: Ints, place: int, computed: Scored) -> None:
        record = self._records[:, place]
        record["score"][rows] = computed.scores
        record["tokens"][rows] = -1 if computed.tokens is None else computed.tokens
        record["truncated"][rows] = -1 if computed.truncated is None else computed.truncated
        self._scored[rows] = place + 1

    def _result(self, place: int, cached: Bools, extra: Ints | None) -> Scored:
        record = self._records[self._alive, place]
        counted, cut = record["tokens"] >= 0, record["truncated"] >= 0
        return Scored(
            np.ascontiguousarray(record["score"], np.float32),
            truncated=record["truncated"] == 1 if cut.any() else None,
            tokens=record["tokens"].astype(np.int64) if counted.any() else None,
            extra_flops=extra,
            cached=cached,
        )


def _unpacked(values: Sequence[bytes | None], stages: int) -> tuple[NDArray[np.void], Ints]:
    """The records of pairs, (pairs, stages), and how many of the stages each has."""
    records = np.zeros((len(values), stages), RECORD)
    known = np.zeros(len(values), np.int64)
    for row, value in enumerate(values):
        if value is not None and len(value) % RECORD.itemsize == 0:
            count = min(len(value) // RECORD.itemsize, stages)
            records[row, :count] = np.frombuffer(value, RECORD, count)
            known[row] = count
    return records, known


def _some(pairs: Pairs, rows: Ints) -> Pairs:
    """Some pairs, with their own questions only."""
    questions, owner = np.unique(pairs.owner[rows], return_inverse=True)
    return Pairs([pairs.questions[number] for number in questions], [pairs.texts[row] for row in rows], owner)
