"""The queue in front of the ranker: what came in while it was busy is computed together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cascada.errors import NotHeld
from cascada.ranking import Ranker, Ranking
from cascada.serve.jobs import Job, Patience
from cascada.serve.logs import LOG
from cascada.serve.metrics import Metrics

Found = TypeVar("Found")


class Batcher:
    """One thread computes; the event loop alone touches the queue, so nothing needs a lock.

    No request waits for company: a batch is what has gathered while the one before it was computed. The thread is one
    because engines share a batch out among the cores by themselves.
    """

    def __init__(self, ranker: Ranker, metrics: Metrics, *, tokens: int) -> None:
        self.ranker = ranker
        self.metrics = metrics
        self.tokens = tokens
        self._queue: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cascada-serve")

    def __len__(self) -> int:
        """Requests that have not been begun and are still awaited."""
        return sum(job.waiting for job in self._queue)

    def add(self, job: Job) -> None:
        self._queue.append(job)
        self._arrived.set()

    async def call(self, work: Callable[[], Found]) -> Found:
        """Run something else in the computing thread, after what it is at."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def run(self) -> None:
        """Until cancelled. Whatever goes wrong with a batch, the next one is taken: nobody may wait for ever."""
        while True:
            await self._arrived.wait()
            batch = self._take()
            if not batch:
                self._arrived.clear()
                continue
            try:
                await self._settle(batch)
            except Exception as error:
                LOG.exception("a batch failed")
                for job in batch:
                    _fail(job, error)

    def close(self) -> None:
        self._thread.shutdown()

    def _take(self) -> list[Job]:
        """The one that came first, and those in the queue that go with it, up to the token budget."""
        batch: list[Job] = []
        room = self.tokens
        left: deque[Job] = deque()
        for job in filter(lambda job: job.waiting, self._queue):
            if not batch or (job.tokens <= room and job.goes_with(batch[0])):
                batch.append(job)
                room -= job.tokens
            else:
                left.append(job)
        self._queue = left
        return batch

    async def _settle(self, batch: list[Job]) -> None:
        """Everyone in the batch gets a ranking or an error; an error that is one request's own stays with it."""
        try:
            rankings = await self.call(lambda: self._rank(batch))
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # a panic in a native library is not an Exception, and must not end the loop
            if len(batch) == 1:
                _fail(batch[0], error)
                return
            for job in batch:
                await self._settle([job])
            return
        for job, ranking in zip(batch, rankings, strict=True):
            if job.waiting:
                job.answer.set_result(ranking)
        self.metrics.ranked(rankings)

    def _rank(self, batch: list[Job]) -> list[Ranking]:
        first = batch[0]
        groups = [job.asked for job in batch]
        return self.ranker.rank_together(groups, drop=first.drop, keep=first.keep, deadline=Patience.of(batch))


class ComputingFailed(Exception):
    """The request was checked before, so that this is no mistake of the user's, whatever the ranker calls it."""


def _fail(job: Job, error: BaseException) -> None:
    if job.waiting:
        failed = error if isinstance(error, NotHeld) else ComputingFailed()
        failed.__cause__ = None if failed is error else error
        job.answer.set_exception(failed)
