"""JSON answers. Python's own writer, in ASCII: what came in as a broken character goes out as it came."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from cascada.core.errors import CascadaError, NotHeld


def answer(content: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
    return Response(body, status, headers, "application/json")


def refused(request: Request, refusal: Refusal) -> Response:
    """In the shape that the clients of this path understand."""
    from cascada.serve.dialects import shape_of

    content = shape_of(request.url.path)(refusal)
    request.state.told["reason"] = refusal.reason
    return answer(content, status=refusal.status, headers=refusal.headers)


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


class Refusal(Exception):
    """A request that is not answered, with a sentence for the one who sent it."""

    def __init__(self, reason: Reason, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return STATUS[self.reason]


class Gone(Exception):
    """The client hung up; there is nobody to answer."""


async def on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refused(request, error)


async def on_mistake(request: Request, error: Exception) -> Response:
    return refused(request, Refusal("invalid", str(error)))


async def on_elsewhere(request: Request, error: Exception) -> Response:
    """Another server holds it: HTTP calls the request misdirected."""
    return refused(request, Refusal("elsewhere", str(error)))


async def on_route(request: Request, error: Exception) -> Response:
    """FastAPI found no such path, or not this method for it."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return refused(request, Refusal("not_allowed", f"{request.method} is not for this path.", error.headers))
    return refused(request, Refusal("not_found", "There is nothing at this path; see /openapi.json."))


async def on_gone(request: Request, error: Exception) -> Response:
    """For the log alone; 499 is what nginx writes there."""
    request.state.told["gone"] = True
    return Response(status_code=499)


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    Refusal: on_refusal,
    CascadaError: on_mistake,
    NotHeld: on_elsewhere,
    HTTPException: on_route,
    Gone: on_gone,
    ClientDisconnect: on_gone,
}
