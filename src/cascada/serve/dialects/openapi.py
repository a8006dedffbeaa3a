"""The OpenAPI description of a route. FastAPI cannot derive it, as the bodies are parsed by our own dependency."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

ERRORS = {
    400: "Not JSON, not UTF-8, or nothing to rank",
    401: "No key, or a wrong one",
    408: "The body did not arrive in time",
    413: "Larger than a limit of this server",
    415: "Not application/json",
    421: "Another server holds the encodings of these documents",
    422: "Of the wrong type, or out of range",
    429: "Busy; Retry-After says in how many seconds to try again",
}


def description(
    model: type[BaseModel],
    *,
    example: Any,
    response: Any,
    error: Any,
    more_errors: Mapping[int, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Keyword arguments of a route that describe its request, its response and its errors, each with an example.

    `more_errors` are status codes that this route has in addition to the common ones.
    """
    body = {"schema": model.model_json_schema(), "example": example}
    errors = {code: _response(meaning, error) for code, meaning in {**ERRORS, **more_errors}.items()}
    return {
        "openapi_extra": {"requestBody": {"required": True, "content": {"application/json": body}}},
        "responses": {200: _response("The result", response)} | errors,
    }


def _response(description: str, example: Any) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"example": example}}}
