"""The queue: requests that wait, which of them share a batch, and the thread that computes them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TypeVar

from cascada.core.errors import NotHeld, TextTooLong
from cascada.ranking import Ranker, Ranking
from cascada.ranking.inputs import CheckedGroup, RankOptions, read_text
from cascada.ranking.stage import NO_DEADLINE, Deadline
from cascada.serve.logs import LOG
from cascada.serve.metrics import Metrics

CHARACTERS_PER_TOKEN = 4

DEADLINE_TOLERANCE = 0.1
"""Requests share a batch, and with it the earliest deadline, if that costs each at most this share of its time left."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Job:
    """A question with its candidates, waiting to be ranked."""

    group: CheckedGroup
    options: RankOptions
    """Resolved by the ranker; jobs with the same plan may share a batch."""
    tokens: int
    """Estimated."""
    result: asyncio.Future[Ranking]

    @classmethod
    def of(cls, group: CheckedGroup, options: RankOptions) -> Job:
        result: asyncio.Future[Ranking] = asyncio.get_running_loop().create_future()
        return cls(group, options, estimated_tokens(group), result)

    @property
    def waiting(self) -> bool:
        """False once the client has disconnected, which cancels the result."""
        return not self.result.done()

    def can_join(self, first: Job) -> bool:
        """Whether the two can share a batch: computed alike, and with deadlines that are close to each other."""
        if self.options.to_run != first.options.to_run:
            return False
        own, batch = self.options.deadline, first.options.deadline
        if own is NO_DEADLINE or batch is NO_DEADLINE:
            return own is batch
        difference = abs(own.at - batch.at)
        least, most = sorted((own.left, batch.left))
        return most <= 0 or difference <= DEADLINE_TOLERANCE * least  # requests already late lose nothing in a batch


def estimated_tokens(group: CheckedGroup) -> int:
    """Roughly how many tokens a model will read; tokenising here would do the model's work twice."""
    question, candidates = group
    characters = sum(len(read_text(candidate)) + len(question) for candidate in candidates)
    return characters // CHARACTERS_PER_TOKEN + len(candidates)


@dataclass(frozen=True)
class BatchDeadline(Deadline):
    """The earliest deadline of a batch's jobs; it passes at once when no client is waiting any more."""

    jobs: Sequence[Job] = ()

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> BatchDeadline:
        return cls(min(job.options.deadline.at for job in jobs), jobs)

    @property
    def left(self) -> float:
        return super().left if any(job.waiting for job in self.jobs) else -1.0


class Batcher:
    """Ranks the queued jobs in batches, in one thread; only the event loop touches the queue, so nothing needs a lock.

    No job waits for a batch to fill: a batch is what has gathered while the one before was computed. One thread is
    enough because engines divide a batch among the cores themselves.
    """

    def __init__(self, ranker: Ranker, metrics: Metrics, *, tokens: int) -> None:
        self.ranker = ranker
        self.metrics = metrics
        self.tokens = tokens
        self._queue: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cascada-serve")

    def __len__(self) -> int:
        """How many jobs wait to be started."""
        return sum(job.waiting for job in self._queue)

    def add(self, job: Job) -> None:
        self._queue.append(job)
        self._arrived.set()

    async def call(self, work: Callable[[], T]) -> T:
        """Run `work` in the computing thread, after its current batch."""
        context = copy_context()  # the request's, for spans of the work
        return await asyncio.get_running_loop().run_in_executor(self._thread, context.run, work)

    async def run(self) -> None:
        """Compute batches until cancelled. If one fails, the next one is taken: no client may wait for ever."""
        while True:
            await self._arrived.wait()
            batch = self._next_batch()
            if not batch:
                self._arrived.clear()
                continue
            try:
                await self._compute(batch)
            except Exception as error:
                LOG.exception("a batch failed")
                for job in batch:
                    _fail(job, error)

    def close(self) -> None:
        """Start nothing more, and do not wait for what is being computed: it may take long, and cannot be stopped."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _next_batch(self) -> list[Job]:
        """The oldest job, and those in the queue that can join it, up to the token budget."""
        batch: list[Job] = []
        budget = self.tokens
        remaining: deque[Job] = deque()
        for job in filter(lambda job: job.waiting, self._queue):
            if not batch or (job.tokens <= budget and job.can_join(batch[0])):
                batch.append(job)
                budget -= job.tokens
            else:
                remaining.append(job)
        self._queue = remaining
        return batch

    async def _compute(self, batch: list[Job]) -> None:
        """Give every job a ranking or an error. If the batch fails, try each job alone, to find whose error it is."""
        try:
            rankings = await self.call(lambda: self._rank(batch))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a panic in a native library is not an Exception, and must not end the loop
            if len(batch) == 1:
                _fail(batch[0], error)
                return
            for job in batch:
                await self._compute([job])
            return
        for job, ranking in zip(batch, rankings, strict=True):
            if job.waiting:
                job.result.set_result(ranking)
        self.metrics.record_batch(rankings, has_cache=self.ranker.cache is not None)

    def _rank(self, batch: list[Job]) -> list[Ranking]:
        """Whole rankings: jobs of one batch may want different numbers of results."""
        options = replace(batch[0].options.to_run, deadline=BatchDeadline.of(batch))
        return self.ranker.rank_together([job.group for job in batch], options)


class ComputationFailed(Exception):
    """The server's fault: the request was checked before, whatever kind of error the ranker raised."""


def _fail(job: Job, error: BaseException) -> None:
    if job.waiting:
        failure = error if isinstance(error, (NotHeld, TextTooLong)) else ComputationFailed()
        failure.__cause__ = None if failure is error else error
        job.result.set_exception(failure)
