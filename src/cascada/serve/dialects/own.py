"""Our own API: everything `Ranker.rank` takes and everything a `Ranking` holds; pruning; an index and its documents."""

import asyncio
from collections.abc import Callable
from pathlib import PurePath
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import ConfigDict, Field

from cascada.core.errors import CascadaError, NotHeld
from cascada.ranking.inputs import RankOptions
from cascada.ranking.prune import PruneOptions, split_passages
from cascada.ranking.result import TextOrMapping
from cascada.serve.dialects.openapi import description
from cascada.serve.queue import ComputationFailed
from cascada.serve.requests import Number, PlanParameters, RankParameters, Top, json_body
from cascada.serve.responses import ApiError, json_response
from cascada.serve.service import Service, SupportsAnswer, SupportsToDict
from cascada.text.words import without_surrogates

PATHS = ("/v1/rank", "/v1/prune", "/v1/ask")

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
PRUNE_EXAMPLE = {"question": "who wrote hamlet?", "passages": ["It rained. Hamlet is by Shakespeare."]}
PRUNE_RESPONSE = {
    "passages": [
        {
            "index": 0,
            "text": "Hamlet is by Shakespeare.",
            "share_cut": 0.29,
            "sentences": [
                {"text": "It rained.", "start": 0, "end": 10, "score": 0.01, "kept": False},
                {"text": "Hamlet is by Shakespeare.", "start": 11, "end": 36, "score": 0.98, "kept": True},
            ],
        }
    ],
    "share_cut": 0.29,
    "likely": True,
    "relative_cost": 0.8,
    "complete": True,
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
NO_DOCUMENT = "There is no such document in the index of this server."
NO_INDEX = {404: "The server was started without an index"}


class RankRequest(RankParameters):
    question: str
    candidates: list[TextOrMapping]
    top: Top = None


class PruneRequest(PlanParameters):
    model_config = ConfigDict(strict=True, extra="forbid")

    question: str
    passages: list[TextOrMapping]
    min_score: Number | None = Field(None, ge=0, le=1, description="Keep only sentences whose score is at least this.")
    min_relative_score: Number | None = Field(
        None, ge=0, le=1, description="Keep only sentences whose score is at least this share of the best one's."
    )
    budget: int | None = Field(
        None, ge=1, description="Keep the best sentences of all passages, up to this many tokens."
    )
    language: str = Field("en", pattern="^[a-z]{2,3}$", description="The passages' language, for splitting sentences.")


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

    _add_prune(service, router)

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

    _add_document(service, router)


def _add_prune(service: Service, router: APIRouter) -> None:
    read = json_body(PruneRequest, service.settings)
    about = description(PruneRequest, example=PRUNE_EXAMPLE, response=PRUNE_RESPONSE, error=ERROR)

    @router.post("/v1/prune", **about)
    async def prune(request: Request, body: Annotated[PruneRequest, Depends(read)]) -> Response:
        """Keep the sentences of passages that help to answer."""
        plan = body.model_dump(include=set(PlanParameters.model_fields))
        options = service.options(RankParameters(**plan), None)
        wanted = body.model_dump(include={"min_score", "min_relative_score", "budget"})
        group = service.checked(body.question, body.passages)
        context = service.ranker.reads_context
        split = await asyncio.to_thread(split_passages, *group, context=context, language=body.language)
        pruned = await service.prune(request, split, PruneOptions.of(**wanted), options)
        return json_response(await asyncio.to_thread(pruned.to_dict))


def _add_document(service: Service, router: APIRouter) -> None:
    @router.get("/v1/documents/{identifier}", responses={404: {"description": NO_DOCUMENT}})
    async def document(identifier: str) -> Response:
        """The passages of a document of the index, by the `document_id` of an answer. No file is opened."""
        look_up = getattr(service.asker, "document", None)
        passages = await asyncio.to_thread(look_up, identifier) if look_up else []
        if not passages:
            raise ApiError("not_found", NO_DOCUMENT)
        name = PurePath(without_surrogates(passages[0].document)).name
        keys = ("text", "start", "end", "line", "page")
        content = [{key: getattr(passage, key) for key in keys} for passage in passages]
        return json_response({"id": identifier, "name": name, "passages": content})


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
