"""The span of a request, in the trace that its `traceparent` header names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from starlette.types import Scope

from cascada.core.tracing import tracer

if TYPE_CHECKING:
    from opentelemetry.trace import Span


@contextmanager
def request_span(scope: Scope) -> Iterator[Span | None]:
    """A span around a request; None if nobody records it, or another instrumentation has made one."""
    active = tracer()
    if active is None:
        yield None
        return
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind, get_current_span

    if get_current_span().is_recording():
        yield None
        return
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    with active.start_as_current_span(
        scope["method"],
        extract(headers),
        kind=SpanKind.SERVER,
        record_exception=False,
        set_status_on_exception=False,
    ) as opened:
        yield opened


def describe(opened: Span | None, scope: Scope, route: str, status: int, request_id: str) -> None:
    """Record how the request ended: with its route, not its path, which may hold anything that a client wrote."""
    if opened is None:
        return
    from opentelemetry.trace import Status, StatusCode

    opened.update_name(f"{scope['method']} {route}")
    attributes: dict[str, Any] = {"http.request.method": scope["method"], "http.route": route}
    attributes |= {"http.response.status_code": status, "cascada.request_id": request_id}
    opened.set_attributes(attributes)
    if status >= 500:
        opened.set_status(Status(StatusCode.ERROR))
