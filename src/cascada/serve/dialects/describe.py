"""What a route's OpenAPI description is made of: bodies are read by hand, so that they are told by hand, too."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

REFUSALS = {
    400: "Not JSON, not UTF-8, or nothing to rank",
    401: "No key, or not one of the keys",
    408: "The body did not arrive in time",
    413: "Larger than a limit of this server",
    415: "Not application/json",
    421: "Another server holds the encodings of these documents",
    422: "Of the wrong type, or out of range",
    429: "Busy; Retry-After says in how many seconds to try again",
}


def described(
    model: type[BaseModel], *, example: Any, answer: Any, refusal: Any, more: Mapping[int, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Arguments of a route: what goes in, what comes out, and what a refusal looks like, each with an example.

    `more` are codes of refusals that this route has beside the usual ones.
    """
    body = {"schema": model.model_json_schema(), "example": example}
    refusals = {code: _with(why, refusal) for code, why in {**REFUSALS, **more}.items()}
    return {
        "openapi_extra": {"requestBody": {"required": True, "content": {"application/json": body}}},
        "responses": {200: _with("What was asked for", answer)} | refusals,
    }


def _with(description: str, example: Any) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"example": example}}}
