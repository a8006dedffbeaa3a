"""One request in the queue, and which of them are computed together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from cascada.core.errors import NotHeld
from cascada.ranking import Ranker, Ranking
from cascada.ranking.inputs import Asked, RankOptions, text_of
from cascada.ranking.result import Document
from cascada.ranking.stage import NO_DEADLINE, Deadline
from cascada.serve.logs import LOG
from cascada.serve.metrics import Metrics

LETTERS_PER_TOKEN = 4


NEAR = 0.1
"""Requests share a batch, and with it the earliest deadline, if that takes no more than this share of their time."""


@dataclass(frozen=True, eq=False)
class Job:
    """A question with its candidates, and whoever waits for the ranking."""

    asked: Asked
    options: RankOptions
    """Resolved by the ranker; requests with the same plan may share a batch."""
    tokens: int
    answer: asyncio.Future[Ranking]

    @property
    def waiting(self) -> bool:
        """False when the client went away: an answer that nobody awaits is cancelled."""
        return not self.answer.done()

    def goes_with(self, first: Job) -> bool:
        """Whether the two can be computed together: by one plan, and with deadlines that are near each other."""
        if self.options.plan != first.options.plan:
            return False
        mine, other = self.options.deadline, first.options.deadline
        if mine is NO_DEADLINE or other is NO_DEADLINE:
            return mine is other
        apart = abs(mine.at - other.at)
        least, most = sorted((mine.left, other.left))
        return most <= 0 or apart <= NEAR * least  # a request that is late anyway loses nothing in a batch


def job_for(ranker: Ranker, asked: Asked, options: RankOptions) -> Job:
    """A job with its options checked: one request's mistake must not reach the others in its batch."""
    answer: asyncio.Future[Ranking] = asyncio.get_running_loop().create_future()
    return Job(asked, ranker.resolved(options), about_tokens(*asked), answer)


def about_tokens(question: str, candidates: Sequence[Document]) -> int:
    """How many a model will read, near enough: counting them is the model's work."""
    letters = sum(len(text_of(candidate)) + len(question) for candidate in candidates)
    return letters // LETTERS_PER_TOKEN + len(candidates)


@dataclass(frozen=True)
class Patience(Deadline):
    """A batch's deadline: the earliest of its requests', and over at once when nobody waits any more."""

    jobs: Sequence[Job] = ()

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> Patience:
        return cls(min(job.options.deadline.at for job in jobs), jobs)

    @property
    def left(self) -> float:
        return super().left if any(job.waiting for job in self.jobs) else -1.0


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
        options = replace(batch[0].options, deadline=Patience.of(batch))
        return self.ranker.rank_together([job.asked for job in batch], options)


class ComputingFailed(Exception):
    """The request was checked before, so that this is no mistake of the user's, whatever the ranker calls it."""


def _fail(job: Job, error: BaseException) -> None:
    if job.waiting:
        failed = error if isinstance(error, NotHeld) else ComputingFailed()
        failed.__cause__ = None if failed is error else error
        job.answer.set_exception(failed)
