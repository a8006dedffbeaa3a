"""Our own: everything `Ranker.rank` takes and everything a `Ranking` holds."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.errors import CascadaError, NotHeld
from cascada.ranking.stage import NO_DEADLINE, Deadline
from cascada.serve.answer import answer
from cascada.serve.batcher import ComputingFailed
from cascada.serve.bodies import Cut, Document, Top
from cascada.serve.body import body_as
from cascada.serve.dialects.describe import described
from cascada.serve.jobs import plan_for
from cascada.serve.refusal import Refusal
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
        deadline = service.deadline(asked)
        plan_for(service.ranker, asked, deadline)  # a mistake of the asker's; what goes wrong later is the server's
        found = await service.call(request, _asking(service.asker, asked, deadline))
        return answer(found.to_dict())


def _asking(asker: Asks, asked: Ask, deadline: Deadline) -> Callable[[], Answered]:
    """Work that is given what is left of its time when it begins."""

    def work() -> Answered:
        left = None if deadline is NO_DEADLINE else max(deadline.left * 1000, 0.001)
        asks = asked.model_dump(include={"top", "paragraphs", "drop", "keep"})
        try:
            return asker.ask(asked.question, **asks, deadline_ms=left)
        except NotHeld:
            raise
        except CascadaError as error:
            raise ComputingFailed from error

    return work
