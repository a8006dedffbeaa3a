"""What all dialects call: admission to the queue, size limits, and a ranking."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from math import ceil
from typing import Any, Protocol, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker, Ranking
from cascada.ranking.assemble import reselected
from cascada.ranking.inputs import CheckedGroup, RankOptions, read_text
from cascada.ranking.prior import first_stage_scores, sure_scores
from cascada.ranking.prune import PruneOptions, SplitPassages, pruned
from cascada.ranking.pruned import Pruned
from cascada.ranking.result import TextOrMapping
from cascada.ranking.tracing import rank_span
from cascada.serve.metrics import Metrics
from cascada.serve.queue import Batcher, Job
from cascada.serve.requests import RankParameters
from cascada.serve.responses import ApiError
from cascada.serve.settings import ServerSettings

LONGEST_RETRY = 30
"""Seconds; beyond that, an estimate of the wait is worth nothing."""

SENTENCES_PER_DOCUMENT = 10
"""Sentences that a request may have pruned, for each document that it may have ranked."""

T = TypeVar("T")


class SupportsToDict(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


class SupportsAnswer(Protocol):
    """What answers `/v1/ask`: `cascada.search.Asker`, or anything with this method."""

    def answer(self, question: str, options: RankOptions, *, paragraphs: int) -> SupportsToDict: ...


class Service:
    """One model with its queue, limits and metrics."""

    def __init__(self, ranker: Ranker, settings: ServerSettings, asker: SupportsAnswer | None = None) -> None:
        self.ranker = ranker
        self.settings = settings
        self.asker = asker
        self.metrics = Metrics()
        self.batcher = Batcher(ranker, self.metrics, tokens=settings.batch_tokens)
        self.ready = False
        self._in_flight = 0
        self._response_interval = 0.0  # seconds from one response to the next, as a moving average
        self._last_response = time.perf_counter()
        self.metrics.add_gauge("queue_requests", "Requests that wait to be started.", lambda: len(self.batcher))
        in_flight = "Requests being read, waiting or being computed."
        self.metrics.add_gauge("inside_requests", in_flight, lambda: self._in_flight)
        self.metrics.add_gauge("ready", "1 once the model is warmed up.", lambda: self.ready)
        if ranker.cache is not None:
            entries = ranker.cache.entries
            self.metrics.add_gauge("cache_bytes", "Size of the cache's file.", lambda: entries.bytes)
            self.metrics.add_gauge("cache_errors", "Reads and writes of the cache that failed.", lambda: entries.errors)

    async def admit(self) -> AsyncIterator[None]:
        """A FastAPI dependency: admit the request, or reject it cheaply, before its body is read."""
        if self._in_flight >= self.settings.queue:
            retry = {"Retry-After": str(self._retry_seconds())}
            raise ApiError("overloaded", "The server is busy; try again later.", retry)
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            now = time.perf_counter()
            self._response_interval += 0.1 * (min(now - self._last_response, 1.0) - self._response_interval)
            self._last_response = now

    async def rank(
        self,
        request: Request,
        question: str,
        candidates: Sequence[TextOrMapping],
        parameters: RankParameters,
        top: int | None = None,
    ) -> Ranking:
        """Rank the candidates of one request."""
        options = self.options(parameters, top)
        group = self.checked(question, candidates)
        if options.skip_if_sure is not None:
            sure_scores(group.candidates)
        elif options.prior:
            first_stage_scores(group.candidates)
        with rank_span(self.settings.model, question, candidates, options) as record:
            ranking = await self.rank_checked(request, group, options)
            record(ranking)
        return ranking

    async def rank_checked(self, request: Request, group: CheckedGroup, options: RankOptions) -> Ranking:
        """Rank a group within the limits, possibly in a batch with others."""
        job = Job.of(group, options)
        self.batcher.add(job)
        ranking = await self._wait_for(request, job.result)
        request.state.log_fields.update(candidates=len(group.candidates), complete=ranking.complete)
        return reselected(ranking, options)

    async def prune(
        self, request: Request, split: SplitPassages, options: PruneOptions, ranked_by: RankOptions
    ) -> Pruned:
        """Prune passages that are already split. Their sentences are ranked in batches, like any other candidates."""
        most = SENTENCES_PER_DOCUMENT * self.settings.max_documents
        if len(split.candidates) > most:
            raise ApiError(
                "too_large", f"The passages have {len(split.candidates):,} sentences; the limit is {most:,}."
            )
        group = CheckedGroup(split.question, tuple(split.candidates))
        ranking = await self.rank_checked(request, group, ranked_by) if split.candidates else None
        return await asyncio.to_thread(pruned, split, ranking, options, self.ranker.count_tokens)

    async def call(self, request: Request, work: Callable[[], T]) -> T:
        """Run other work in the computing thread, unless the client disconnects first."""
        return await self._wait_for(request, asyncio.ensure_future(self.batcher.call(work)))

    def options(self, parameters: RankParameters, top: int | None) -> RankOptions:
        """Check the parameters of a request, once, and fill in this ranker's defaults.

        The deadline starts here, so that it includes the wait in the queue.
        """
        deadline_ms = parameters.deadline_ms or self.settings.deadline_ms
        options = RankOptions.of(
            top=top,
            drop=parameters.drop,
            keep=parameters.keep,
            min_score=parameters.min_score,
            cut=parameters.cut,
            deadline_ms=deadline_ms,
            long=parameters.long,
            max_tokens=parameters.max_tokens,
            prior=parameters.prior,
            skip_if_sure=parameters.skip_if_sure,
        )
        return self.ranker.resolved(options)

    def check_question(self, question: str) -> None:
        if not question.strip():
            raise CascadaError("The question is empty.")
        _check_length("The question", question, self.settings.max_question)
        _check_encodable("The question", question)

    def checked(self, question: str, candidates: Sequence[TextOrMapping]) -> CheckedGroup:
        """Check the limits. Pydantic has checked the types, and the ranker checks nothing again."""
        self.check_question(question)
        if not candidates:
            raise ApiError("empty", "There are no documents to rank.")
        most = self.settings.max_documents
        if len(candidates) > most:
            raise ApiError("too_large", f"There are {len(candidates):,} documents; the limit is {most:,}.")
        for index, candidate in enumerate(candidates):
            text = read_text(candidate)
            _check_length(f"Document {index}", text, self.settings.max_document)
            _check_encodable(f"Document {index}", text)
        return CheckedGroup(question, tuple(candidates))

    async def _wait_for(self, request: Request, result: asyncio.Future[T]) -> T:
        """Wait for the result. If the client disconnects first, cancel it; it is computed only if already started."""
        disconnected = asyncio.ensure_future(_disconnected(request))
        try:
            both: set[asyncio.Future[Any]] = {result, disconnected}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                self.metrics.disconnected.inc()
                raise ClientDisconnect
            return result.result()
        finally:
            disconnected.cancel()
            result.cancel()

    def _retry_seconds(self) -> int:
        return min(max(ceil(self._response_interval * self.settings.queue / 2), 1), LONGEST_RETRY)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _check_length(name: str, text: str, limit: int) -> None:
    if len(text) > limit:
        raise ApiError("too_large", f"{name} has {len(text):,} characters; the limit is {limit:,}.")


def _check_encodable(name: str, text: str) -> None:
    """Reject unpaired surrogates, `"\\ud800"`: JSON can write them, but no tokenizer can read them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ApiError("invalid", f"{name} has an unpaired surrogate at character {error.start}.") from None
