"""JSON responses and errors.

Python's own JSON writer, in ASCII, returns an unpaired surrogate in a user's text exactly as it was sent.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from cascada.core.errors import CascadaError, NotHeld, TextTooLong

Reason = Literal[
    "malformed", "invalid", "empty", "too_large", "unauthorized", "overloaded", "too_slow", "unsupported",
    "not_found", "not_allowed", "elsewhere", "failed",
]  # fmt: skip

STATUS: Mapping[Reason, int] = {
    "malformed": 400,
    "empty": 400,
    "unauthorized": 401,
    "not_found": 404,
    "not_allowed": 405,
    "too_slow": 408,
    "too_large": 413,
    "unsupported": 415,
    "elsewhere": 421,
    "invalid": 422,
    "overloaded": 429,
    "failed": 500,
}


class ApiError(Exception):
    """A request that is rejected or failed, with a sentence for the client."""

    def __init__(self, reason: Reason, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return STATUS[self.reason]


def json_response(content: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
    return Response(body, status, headers, "application/json")


def error_response(request: Request, error: ApiError) -> Response:
    """The error in the shape that clients of this path understand."""
    from cascada.serve.dialects import error_body_of

    content = error_body_of(request.url.path)(error, request.state.request_id)
    request.state.log_fields["reason"] = error.reason
    return json_response(content, status=error.status, headers=error.headers)


async def on_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_response(request, error)


async def on_user_mistake(request: Request, error: Exception) -> Response:
    return error_response(request, ApiError("invalid", str(error)))


async def on_too_long(request: Request, error: Exception) -> Response:
    return error_response(request, ApiError("too_large", str(error)))


async def on_held_elsewhere(request: Request, error: Exception) -> Response:
    """Another server holds the data: HTTP calls the request misdirected."""
    return error_response(request, ApiError("elsewhere", str(error)))


async def on_no_route(request: Request, error: Exception) -> Response:
    """FastAPI knows no such path, or not this method for it."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        message = f"{request.method} is not allowed for this path."
        return error_response(request, ApiError("not_allowed", message, error.headers))
    return error_response(request, ApiError("not_found", "There is nothing at this path; see /openapi.json."))


async def on_disconnect(request: Request, error: Exception) -> Response:
    """The client hung up, so this response is only for the log; 499 is nginx's code for it."""
    request.state.log_fields["gone"] = True
    return Response(status_code=499)


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    ApiError: on_api_error,
    CascadaError: on_user_mistake,
    NotHeld: on_held_elsewhere,
    TextTooLong: on_too_long,
    HTTPException: on_no_route,
    ClientDisconnect: on_disconnect,
}
