"""What becomes of an error: a refusal in the dialect's shape. Faults of the server's own are seen to in `told.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from cascada.errors import CascadaError, NotHeld
from cascada.serve.answer import refused
from cascada.serve.refusal import Gone, Refusal


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
