"""Cohere's rerank, versions 1 and 2, and Jina's, which has version 1's path and nearly its body.

Only two things tell Jina's clients apart: their models' names begin with `jina-`, and they get the documents back
unless they decline. Everything else is served to both at once: an answer has the keys of both, and so has a refusal.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import Field

from cascada.core.errors import CascadaError
from cascada.ranking import Item, Ranking
from cascada.ranking.result import Document as Given
from cascada.serve.dialects.describe import described
from cascada.serve.queue import about_tokens
from cascada.serve.requests import Cut, Document, Top, body_as
from cascada.serve.responses import Refusal, answer
from cascada.serve.service import Service

PATHS = ("/v1/rerank", "/v2/rerank")


EXAMPLE = {
    "model": "any",
    "query": "who wrote hamlet?",
    "documents": ["It rained.", {"text": "Hamlet is by Shakespeare.", "id": 7}],
    "top_n": 1,
    "return_documents": True,
}


RESULT = {"index": 1, "relevance_score": 0.98, "raw_score": 3.9, "truncated": False}


ANSWER = {
    "id": "4b4b0b0e5d0d4f1e9f0d4a5c1c6a7e11",
    "object": "list",
    "model": "my-ranker",
    "results": [RESULT | {"document": {"text": "Hamlet is by Shakespeare.", "id": 7}}],
    "meta": {"api_version": {"version": "2"}},
    "usage": {"total_tokens": 24},
    "complete": True,
}


REFUSED = {"message": "There are no documents to rank.", "detail": "There are no documents to rank."}


class Rerank(Cut):
    query: str
    documents: list[Document]
    model: str | None = Field(None, description="Not looked at: the server has one model.")
    top_n: Top = None
    return_documents: bool | None = Field(None, description="By default no; yes for models named jina-….")
    rank_fields: list[str] | None = Field(None, description='Fields of documents that are read instead of "text".')
    max_chunks_per_doc: Any = Field(None, description="Not looked at: a document is one piece.")
    max_tokens_per_doc: Any = Field(None, description="Not looked at: the model's own length holds.")

    @property
    def returns_documents(self) -> bool:
        jina = (self.model or "").startswith("jina-")
        return jina if self.return_documents is None else self.return_documents


def refusal(refused: Refusal) -> dict[str, Any]:
    """Cohere's clients look for `message`, Jina's for `detail`."""
    return {"message": refused.message, "detail": refused.message}


def routes(service: Service, router: APIRouter) -> None:
    read = body_as(Rerank, service.settings)
    shape = described(Rerank, example=EXAMPLE, answer=ANSWER, refusal=REFUSED)

    @router.post("/v1/rerank", **shape)
    @router.post("/v2/rerank", **shape)
    async def rerank(request: Request, asked: Annotated[Rerank, Depends(read)]) -> Response:
        """Rerank documents as Cohere and Jina do."""
        candidates = [_read_from(document, asked.rank_fields) for document in asked.documents]
        ranking = await service.rank(request, asked.query, candidates, asked, asked.top_n)
        tokens = about_tokens(asked.query, candidates)
        return answer(_answer(request, asked, ranking, service.settings.model, tokens))


def _read_from(document: Document, fields: list[str] | None) -> Document:
    """What the ranker reads: the text, or the fields that were named, a line each."""
    if fields is None or isinstance(document, str):
        return document
    lines = [document[name] for name in fields if name in document]
    if not all(isinstance(line, str) for line in lines):
        raise CascadaError("rank_fields names a field that is not a string.")
    if not lines:
        raise CascadaError("A document has none of the fields that rank_fields names.")
    return "\n".join(lines)


def _answer(request: Request, asked: Rerank, ranking: Ranking, model: str, tokens: int) -> dict[str, Any]:
    version = request.url.path[2]
    return {
        "id": request.state.number,
        "object": "list",
        "model": model,
        "results": [_result(item, asked) for item in ranking],
        "meta": {"api_version": {"version": version}} | _warnings(asked, ranking),
        "usage": {"total_tokens": tokens},
        "complete": ranking.complete,
    }


def _result(item: Item, asked: Rerank) -> dict[str, Any]:
    found = {
        "index": item.index,
        "relevance_score": item.score,
        "raw_score": item.raw_score,
        "truncated": item.truncated,
    }
    given: Given = asked.documents[item.index]
    document = {"text": given} if isinstance(given, str) else given
    return found | ({"document": document} if asked.returns_documents else {})


def _warnings(asked: Rerank, ranking: Ranking) -> dict[str, list[str]]:
    ignored = [name for name in ("max_chunks_per_doc", "max_tokens_per_doc") if getattr(asked, name) is not None]
    told = [f"{name} is not looked at: documents are read up to the model's own length." for name in ignored]
    if not ranking.complete:
        told.append("The deadline stopped the ranking: this is the best complete order that was known.")
    return {"warnings": told} if told else {}
