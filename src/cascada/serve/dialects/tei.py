"""The rerank API of Text Embeddings Inference."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.ranking import Item
from cascada.serve.dialects.openapi import description
from cascada.serve.requests import RankParameters, json_body
from cascada.serve.responses import ApiError, Reason, json_response
from cascada.serve.service import Service

PATHS = ("/rerank",)

EXAMPLE = {"query": "who wrote hamlet?", "texts": ["It rained.", "Hamlet is by Shakespeare."], "return_text": True}
RESPONSE = [
    {"index": 1, "score": 0.98, "text": "Hamlet is by Shakespeare.", "truncated": False},
    {"index": 0, "score": 0.01, "text": "It rained.", "truncated": False},
]
ERROR = {"error": "There are no documents to rank.", "error_type": "Empty"}

_ERROR_TYPES: Mapping[Reason, str] = {"empty": "Empty", "overloaded": "Overloaded", "failed": "Backend"}


class RerankRequest(RankParameters):
    query: str
    texts: list[str]
    raw_scores: bool = False
    return_text: bool = False
    truncate: bool | None = Field(None, description="false: reject texts that do not fit the model.")
    truncation_direction: Literal["Right", "right"] = Field(
        "Right", description="Texts are truncated only at their end."
    )


def error_body(error: ApiError, request_id: str) -> dict[str, Any]:
    """Exactly the two keys that Text Embeddings Inference has; the id is in the response's header."""
    return {"error": error.message, "error_type": _ERROR_TYPES.get(error.reason, "Validation")}


def add_routes(service: Service, router: APIRouter) -> None:
    read = json_body(RerankRequest, service.settings)

    @router.post("/rerank", **description(RerankRequest, example=EXAMPLE, response=RESPONSE, error=ERROR))
    async def rerank_texts(request: Request, body: Annotated[RerankRequest, Depends(read)]) -> Response:
        """Rerank texts as Text Embeddings Inference does."""
        chosen = {None: body.long, True: body.long or "first", False: "error"}[body.truncate]
        ranking = await service.rank(request, body.query, body.texts, body.model_copy(update={"long": chosen}))
        return json_response([_result(item, body) for item in ranking])


def _result(item: Item, body: RerankRequest) -> dict[str, Any]:
    score = {"index": item.index, "score": item.raw_score if body.raw_scores else item.score}
    return score | ({"text": item.text} if body.return_text else {}) | {"truncated": item.truncated}
