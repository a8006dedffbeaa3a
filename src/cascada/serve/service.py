"""What all dialects call: the queue's door, the limits, and a ranking."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, Protocol, TypeVar

from fastapi import Request

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker, Ranking
from cascada.ranking.inputs import RankOptions, text_of
from cascada.ranking.result import Document
from cascada.serve.metrics import Metrics
from cascada.serve.queue import Batcher, job_for
from cascada.serve.requests import Cut
from cascada.serve.responses import Gone, Refusal
from cascada.serve.settings import Settings

LONGEST_RETRY = 30
"""Seconds: a queue that takes longer is not worth being foretold."""


Found = TypeVar("Found")


class Answered(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


class Asks(Protocol):
    """What answers `/v1/ask`: `cascada.search.Asker`, or anything with its method."""

    def answer(self, question: str, options: RankOptions, *, paragraphs: int) -> Answered: ...


class Service:
    def __init__(self, ranker: Ranker, settings: Settings, asker: Asks | None = None) -> None:
        self.ranker = ranker
        self.settings = settings
        self.asker = asker
        self.metrics = Metrics()
        self.batcher = Batcher(ranker, self.metrics, tokens=settings.batch_tokens)
        self.ready = False
        self._inside = 0
        self._pace = 0.0  # seconds from one answer to the next, as of late
        self._last = time.perf_counter()
        self.metrics.watch("queue_requests", "Requests that have not been begun.", lambda: len(self.batcher))
        self.metrics.watch("inside_requests", "Requests read, waiting or computed now.", lambda: self._inside)
        self.metrics.watch("ready", "1 once the model is warmed up.", lambda: self.ready)

    async def place(self) -> AsyncIterator[None]:
        """A dependency: a place inside, taken before the body is read, so that refusing costs next to nothing."""
        if self._inside >= self.settings.queue:
            retry = {"Retry-After": str(self._seconds_until_free())}
            raise Refusal("overloaded", "The server is busy; try again later.", retry)
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            now = time.perf_counter()
            self._pace += 0.1 * (min(now - self._last, 1.0) - self._pace)
            self._last = now

    async def rank(
        self, request: Request, question: str, candidates: Sequence[Document], cut: Cut, top: int | None = None
    ) -> Ranking:
        """The ranking of one request, computed with others'."""
        self._check(question, candidates)
        job = job_for(self.ranker, (question, candidates), self.options(cut))
        self.batcher.add(job)
        ranking = await self._awaited(request, job.answer)
        request.state.told.update(candidates=len(candidates), complete=ranking.complete)
        return replace(ranking, items=ranking.items[:top])

    async def call(self, request: Request, work: Callable[[], Found]) -> Found:
        """Something else for the computing thread, unless the client leaves first."""
        return await self._awaited(request, asyncio.ensure_future(self.batcher.call(work)))

    def check_question(self, question: str) -> None:
        if not question.strip():
            raise CascadaError("The question is empty.")
        if len(question) > self.settings.max_question:
            raise _too_long("The question", len(question), self.settings.max_question)
        _check_letters(question, "The question")

    def _check(self, question: str, candidates: Sequence[Document]) -> None:
        self.check_question(question)
        if not candidates:
            raise Refusal("empty", "There are no documents to rank.")
        most, longest = self.settings.max_documents, self.settings.max_document
        if len(candidates) > most:
            raise Refusal("too_large", f"There are {len(candidates):,} documents; at most {most:,} are ranked.")
        for index, candidate in enumerate(candidates):
            text = text_of(candidate)
            if len(text) > longest:
                raise _too_long(f"Document {index}", len(text), longest)
            _check_letters(text, f"Document {index}")

    def options(self, cut: Cut) -> RankOptions:
        """What a request asks for. Its deadline counts from here on: the wait in the queue is part of it."""
        return RankOptions.of(drop=cut.drop, keep=cut.keep, deadline_ms=cut.deadline_ms or self.settings.deadline_ms)

    async def _awaited(self, request: Request, found: asyncio.Future[Found]) -> Found:
        """What is found, unless the client hangs up before: then it is cancelled, and not computed if not begun."""
        left = asyncio.ensure_future(_left(request))
        try:
            both: set[asyncio.Future[Any]] = {found, left}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not found.done():
                self.metrics.gone.inc()
                raise Gone
            return found.result()
        finally:
            left.cancel()
            found.cancel()

    def _seconds_until_free(self) -> int:
        return min(max(ceil(self._pace * self.settings.queue / 2), 1), LONGEST_RETRY)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _too_long(what: str, length: int, longest: int) -> Refusal:
    return Refusal("too_large", f"{what} has {length:,} characters; the most that are read is {longest:,}.")


def _check_letters(text: str, what: str) -> None:
    """JSON can write half a character, `"\\ud800"`, which no tokenizer reads."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refusal("invalid", f"{what} has half a character, at {error.start}.") from None
