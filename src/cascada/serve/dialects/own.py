"""Our own: everything `Ranker.rank` takes and everything a `Ranking` holds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.core.errors import CascadaError, NotHeld
from cascada.ranking.inputs import RankOptions
from cascada.serve.dialects.describe import described
from cascada.serve.queue import ComputingFailed
from cascada.serve.requests import Cut, Document, Top, body_as
from cascada.serve.responses import Refusal, answer
from cascada.serve.service import Answered, Asks, Service

PATHS = ("/v1/rank", "/v1/ask")


EXAMPLE = {"question": "who wrote hamlet?", "candidates": ["It rained.", "Hamlet is by Shakespeare."], "top": 1}


ITEM = {"index": 1, "text": "Hamlet is by Shakespeare.", "score": 0.98, "raw_score": 3.9}


ANSWER = {
    "items": [ITEM | {"exit": 12, "truncated": False, "scores": [1.2, 3.9]}],
    "relative_cost": 0.8,
    "flops": 800,
    "full_flops": 1000,
    "stages": [
        {"exit": 6, "candidates": 2, "flops": 500, "seconds": 0.002},
        {"exit": 12, "candidates": 1, "flops": 300, "seconds": 0.001},
    ],
    "complete": True,
}


FOUND = {"text": "Hamlet is by Shakespeare.", "document": "plays.txt", "start": 11, "end": 36, "score": 0.98}


ANSWERS = {"answers": [FOUND]}


REFUSED = {"error": {"type": "empty", "message": "There are no documents to rank."}}


class Rank(Cut):
    question: str
    candidates: list[Document]
    top: Top = None


class Ask(Cut):
    question: str
    top: Annotated[int, Field(ge=1, le=1000)] = 3
    paragraphs: Annotated[int, Field(ge=1, le=1000, description="Look for answers in so many paragraphs.")] = 80


def refusal(refused: Refusal) -> dict[str, Any]:
    return {"error": {"type": refused.reason, "message": refused.message}}


def routes(service: Service, router: APIRouter) -> None:
    settings = service.settings

    @router.post("/v1/rank", **described(Rank, example=EXAMPLE, answer=ANSWER, refusal=REFUSED))
    async def rank(request: Request, asked: Annotated[Rank, Depends(body_as(Rank, settings))]) -> Response:
        """Rank candidates, and tell everything: where each one left, its scores, what it cost."""
        ranking = await service.rank(request, asked.question, asked.candidates, asked, asked.top)
        return answer(ranking.to_dict())

    example = {"question": EXAMPLE["question"], "top": 1}

    none = {404: "The server was started without an index"}

    @router.post("/v1/ask", **described(Ask, example=example, answer=ANSWERS, refusal=REFUSED, more=none))
    async def ask(request: Request, asked: Annotated[Ask, Depends(body_as(Ask, settings))]) -> Response:
        """Answer a question from the index that the server was started with."""
        if service.asker is None:
            raise Refusal("not_found", "This server has no index to ask; it was started without one.")
        service.check_question(asked.question)
        # Mistakes of the client are found here; whatever goes wrong later is the server's fault.
        options = replace(service.ranker.resolved(service.options(asked)), top=asked.top)
        found = await service.call(request, _asking(service.asker, asked, options))
        return answer(found.to_dict())


def _asking(asker: Asks, asked: Ask, options: RankOptions) -> Callable[[], Answered]:
    """The work of answering, for the computing thread."""

    def work() -> Answered:
        try:
            return asker.answer(asked.question, options, paragraphs=asked.paragraphs)
        except NotHeld:
            raise
        except CascadaError as error:
            raise ComputingFailed from error

    return work
