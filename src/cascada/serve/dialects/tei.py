"""Text Embeddings Inference's rerank."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.ranking import Item
from cascada.serve.dialects.describe import described
from cascada.serve.requests import Cut, body_as
from cascada.serve.responses import Reason, Refusal, answer
from cascada.serve.service import Service

PATHS = ("/rerank",)


EXAMPLE = {"query": "who wrote hamlet?", "texts": ["It rained.", "Hamlet is by Shakespeare."], "return_text": True}


ANSWER = [
    {"index": 1, "score": 0.98, "text": "Hamlet is by Shakespeare.", "truncated": False},
    {"index": 0, "score": 0.01, "text": "It rained.", "truncated": False},
]


REFUSED = {"error": "There are no documents to rank.", "error_type": "Empty"}


_TYPES: Mapping[Reason, str] = {"empty": "Empty", "overloaded": "Overloaded", "failed": "Backend"}


class Rerank(Cut):
    query: str
    texts: list[str]
    raw_scores: bool = False
    return_text: bool = False
    truncate: bool | None = Field(None, description="No: refuse texts that do not fit the model.")
    truncation_direction: Literal["Right", "right"] = Field("Right", description="Texts are cut at their end only.")


def refusal(refused: Refusal) -> dict[str, Any]:
    return {"error": refused.message, "error_type": _TYPES.get(refused.reason, "Validation")}


def routes(service: Service, router: APIRouter) -> None:
    read = body_as(Rerank, service.settings)

    @router.post("/rerank", **described(Rerank, example=EXAMPLE, answer=ANSWER, refusal=REFUSED))
    async def rerank_texts(request: Request, asked: Annotated[Rerank, Depends(read)]) -> Response:
        """Rerank texts as Text Embeddings Inference does."""
        ranking = await service.rank(request, asked.query, asked.texts, asked)
        cut = [item.index for item in ranking if item.truncated]
        if cut and asked.truncate is False:
            raise Refusal("too_large", f"Text {min(cut)} and the query do not fit the model, and truncate is false.")
        return answer([_result(item, asked) for item in ranking])


def _result(item: Item, asked: Rerank) -> dict[str, Any]:
    found = {"index": item.index, "score": item.raw_score if asked.raw_scores else item.score}
    return found | ({"text": item.text} if asked.return_text else {}) | {"truncated": item.truncated}
