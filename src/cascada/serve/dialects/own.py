"""Our own API: everything `Ranker.rank` takes and everything a `Ranking` holds, and questions to an index."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.core.errors import CascadaError, NotHeld
from cascada.ranking.inputs import RankOptions
from cascada.ranking.result import TextOrMapping
from cascada.serve.dialects.openapi import description
from cascada.serve.queue import ComputationFailed
from cascada.serve.requests import RankParameters, Top, json_body
from cascada.serve.responses import ApiError, json_response
from cascada.serve.service import Service, SupportsAnswer, SupportsToDict

PATHS = ("/v1/rank", "/v1/ask")

RANK_EXAMPLE = {"question": "who wrote hamlet?", "candidates": ["It rained.", "Hamlet is by Shakespeare."], "top": 1}
RANK_RESPONSE = {
    "items": [
        {
            "index": 1,
            "text": "Hamlet is by Shakespeare.",
            "score": 0.98,
            "raw_score": 3.9,
            "exit": 12,
            "truncated": False,
            "scores": [1.2, 3.9],
            "window": None,
        }
    ],
    "relative_cost": 0.8,
    "flops": 800,
    "full_flops": 1000,
    "stages": [
        {"exit": 6, "candidates": 2, "flops": 500, "seconds": 0.002, "texts": 2, "cached": 0},
        {"exit": 12, "candidates": 1, "flops": 300, "seconds": 0.001, "texts": 1, "cached": 0},
    ],
    "complete": True,
    "likely": True,
    "skipped": False,
}
ASK_EXAMPLE = {"question": "who wrote hamlet?", "top": 1}
ASK_RESPONSE = {
    "answers": [
        {"text": "Hamlet is by Shakespeare.", "document": "plays.txt", "start": 11, "end": 36, "score": 0.98},
    ]
}
ERROR = {
    "error": {
        "type": "empty",
        "message": "There are no documents to rank.",
        "request_id": "4b4b0b0e5d0d4f1e9f0d4a5c1c6a7e11",
    }
}
NO_INDEX = {404: "The server was started without an index"}


class RankRequest(RankParameters):
    question: str
    candidates: list[TextOrMapping]
    top: Top = None


class AskRequest(RankParameters):
    question: str
    top: Annotated[int, Field(ge=1, le=1000)] = 3
    paragraphs: Annotated[int, Field(ge=1, le=1000, description="Search this many paragraphs for answers.")] = 80


def error_body(error: ApiError, request_id: str) -> dict[str, Any]:
    return {"error": {"type": error.reason, "message": error.message, "request_id": request_id}}


def add_routes(service: Service, router: APIRouter) -> None:
    read_rank, read_ask = json_body(RankRequest, service.settings), json_body(AskRequest, service.settings)

    @router.post("/v1/rank", **description(RankRequest, example=RANK_EXAMPLE, response=RANK_RESPONSE, error=ERROR))
    async def rank(request: Request, body: Annotated[RankRequest, Depends(read_rank)]) -> Response:
        """Rank candidates, and return everything: the exit where each was dropped, its scores, and the cost."""
        ranking = await service.rank(request, body.question, body.candidates, body, body.top)
        return json_response(ranking.to_dict())

    ask_description = description(
        AskRequest, example=ASK_EXAMPLE, response=ASK_RESPONSE, error=ERROR, more_errors=NO_INDEX
    )

    @router.post("/v1/ask", **ask_description)
    async def ask(request: Request, body: Annotated[AskRequest, Depends(read_ask)]) -> Response:
        """Answer a question from the index that the server was started with."""
        if service.asker is None:
            raise ApiError("not_found", "This server has no index to ask; it was started without one.")
        # The client's mistakes are found here; whatever goes wrong later is the server's fault.
        service.check_question(body.question)
        parameters = body.model_copy(update={"prior": None}) if body.prior is True else body  # the asker's own weight
        options = service.options(parameters, body.top)
        answers = await service.call(request, _answering(service.asker, body, options))
        return json_response(answers.to_dict())


def _answering(asker: SupportsAnswer, body: AskRequest, options: RankOptions) -> Callable[[], SupportsToDict]:
    """The work of answering, for the computing thread."""

    def answer() -> SupportsToDict:
        try:
            return asker.answer(body.question, options, paragraphs=body.paragraphs)
        except NotHeld:
            raise
        except CascadaError as error:
            raise ComputationFailed from error

    return answer
