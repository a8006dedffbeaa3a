"""Cohere's rerank API, versions 1 and 2, and Jina's, which has version 1's path and almost its body.

Jina's clients differ in two things: their model names begin with `jina-`, and they get the documents back unless they
decline. Otherwise both are served alike: responses and errors have the keys of both APIs.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.core.errors import CascadaError
from cascada.ranking import Item, Ranking
from cascada.ranking.inputs import CheckedGroup
from cascada.ranking.result import TextOrMapping
from cascada.serve.dialects.openapi import description
from cascada.serve.queue import estimated_tokens
from cascada.serve.requests import RankParameters, Top, json_body
from cascada.serve.responses import ApiError, json_response
from cascada.serve.service import Service

PATHS = ("/v1/rerank", "/v2/rerank")

EXAMPLE = {
    "model": "any",
    "query": "who wrote hamlet?",
    "documents": ["It rained.", {"text": "Hamlet is by Shakespeare.", "id": 7}],
    "top_n": 1,
    "return_documents": True,
}
RESPONSE = {
    "id": "4b4b0b0e5d0d4f1e9f0d4a5c1c6a7e11",
    "object": "list",
    "model": "my-ranker",
    "results": [
        {
            "index": 1,
            "relevance_score": 0.98,
            "raw_score": 3.9,
            "truncated": False,
            "document": {"text": "Hamlet is by Shakespeare.", "id": 7},
        }
    ],
    "meta": {"api_version": {"version": "2"}},
    "usage": {"total_tokens": 24},
    "complete": True,
    "likely": True,
}
ERROR = {
    "id": RESPONSE["id"],
    "message": "There are no documents to rank.",
    "detail": "There are no documents to rank.",
}


class RerankRequest(RankParameters):
    query: str
    documents: list[TextOrMapping]
    model: str | None = Field(None, description="Ignored: the server has one model.")
    top_n: Top = None
    return_documents: bool | None = Field(None, description="Default: false; true for models named jina-….")
    rank_fields: list[str] | None = Field(None, description='Fields of the documents to read instead of "text".')
    max_chunks_per_doc: Any = Field(None, description="Ignored: a document is not split.")
    max_tokens_per_doc: int | None = Field(None, ge=1, description="Read only this many tokens of each document.")

    @property
    def returns_documents(self) -> bool:
        jina = (self.model or "").startswith("jina-")
        return jina if self.return_documents is None else self.return_documents


def error_body(error: ApiError, request_id: str) -> dict[str, Any]:
    """Cohere's clients look for `message` and `id`, Jina's for `detail`."""
    return {"id": request_id, "message": error.message, "detail": error.message}


def add_routes(service: Service, router: APIRouter) -> None:
    read = json_body(RerankRequest, service.settings)
    about = description(RerankRequest, example=EXAMPLE, response=RESPONSE, error=ERROR)

    @router.post("/v1/rerank", **about)
    @router.post("/v2/rerank", **about)
    async def rerank(request: Request, body: Annotated[RerankRequest, Depends(read)]) -> Response:
        """Rerank documents as Cohere and Jina do."""
        candidates = [_text_to_read(document, body.rank_fields) for document in body.documents]
        parameters = body.model_copy(update={"max_tokens": body.max_tokens or body.max_tokens_per_doc})
        ranking = await service.rank(request, body.query, candidates, parameters, body.top_n)
        tokens = estimated_tokens(CheckedGroup(body.query, tuple(candidates)))
        return json_response(_response(request, body, ranking, service.settings.model, tokens))


def _text_to_read(document: TextOrMapping, fields: list[str] | None) -> TextOrMapping:
    """What the ranker reads: the document's text, or the fields named by `rank_fields`, one per line."""
    if fields is None or isinstance(document, str):
        return document
    lines = [document[name] for name in fields if name in document]
    if not all(isinstance(line, str) for line in lines):
        raise CascadaError("rank_fields names a field that is not a string.")
    if not lines:
        raise CascadaError("A document has none of the fields that rank_fields names.")
    return "\n".join(lines)


def _response(request: Request, body: RerankRequest, ranking: Ranking, model: str, tokens: int) -> dict[str, Any]:
    version = request.url.path[2]
    return {
        "id": request.state.request_id,
        "object": "list",
        "model": model,
        "results": [_result(item, body) for item in ranking],
        "meta": {"api_version": {"version": version}} | _warnings(body, ranking),
        "usage": {"total_tokens": tokens},
        "complete": ranking.complete,
        "likely": ranking.likely,
    }


def _result(item: Item, body: RerankRequest) -> dict[str, Any]:
    result = {
        "index": item.index,
        "relevance_score": item.score,
        "raw_score": item.raw_score,
        "truncated": item.truncated,
    }
    sent = body.documents[item.index]
    document = {"text": sent} if isinstance(sent, str) else sent
    return result | ({"document": document} if body.returns_documents else {})


def _warnings(body: RerankRequest, ranking: Ranking) -> dict[str, list[str]]:
    ignored = "max_chunks_per_doc is ignored: a long document is read in as many windows as it has."
    warnings = [] if body.max_chunks_per_doc is None else [ignored]
    if not ranking.complete:
        warnings.append("The deadline stopped the ranking: this is the best complete order known so far.")
    return {"warnings": warnings} if warnings else {}
