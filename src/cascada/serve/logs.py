"""Logs: one JSON object per line on stderr. They never contain what users wrote."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cascada.serve.metrics import Metrics
from cascada.serve.responses import ApiError, error_response
from cascada.serve.tracing import describe, request_span

LOG = logging.getLogger("cascada.serve")

POLLED_ROUTES = ("/health", "/ready", "/metrics")
"""Machines call these every few seconds; they are logged only when they fail. Warming up (503) is no failure."""


HEADERS = ((b"x-content-type-options", b"nosniff"),)
"""Of every response: a browser must not guess another type than the one that is given."""


_SANE_ID = re.compile(rb"[A-Za-z0-9._:+=/-]{1,128}")


def _request_id(scope: Scope) -> str:
    """The client's or proxy's own id of the request (`X-Request-Id`), if it looks like one; else a new one."""
    sent = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return sent.decode("ascii") if _SANE_ID.fullmatch(sent) else uuid4().hex


class JsonFormatter(logging.Formatter):
    """Formats a record, with the fields that `log_event` gave it, as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname.lower(), "event": record.getMessage().strip()}
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1]:
            line |= _error_fields(record.exc_info[1])
        return json.dumps(line)


def _error_fields(error: BaseException) -> dict[str, Any]:
    """The kind of error and its location; not its message, which may quote a user's text."""
    error = error.__cause__ or error
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return {"error": type(error).__name__, "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]}


def start_logging() -> None:
    """Send every logger's records to stderr as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.root.handlers = [handler]
    logging.root.setLevel(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the hub's client logs every download
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it warns of every malformed request


def log_event(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Write one line with these fields."""
    LOG.log(level, event, extra={"fields": fields})


class RequestLog:
    """ASGI middleware: gives every response an id and the headers that all have, logs and counts the request.

    Handlers put additional fields of the log line into `request.state.log_fields`.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        with request_span(scope) as span:
            await self._logged(scope, receive, send, span)

    async def _logged(self, scope: Scope, receive: Receive, send: Send, span: Any) -> None:
        started, status, sending, request_id = time.perf_counter(), 500, False, _request_id(scope)
        scope.setdefault("state", {}).update(log_fields={}, request_id=request_id)

        async def send_with_headers(message: Message) -> None:
            nonlocal status, sending
            if message["type"] == "http.response.start":
                status, sending = message["status"], True
                message["headers"] = [*message["headers"], *HEADERS, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except Exception:  # caught here and not further out, where the response would have no id
            LOG.exception("fault", extra={"fields": {"id": request_id}})
            if sending:
                raise
            error = ApiError("failed", "The server could not answer because of an internal error.")
            await error_response(Request(scope), error)(scope, receive, send_with_headers)
        finally:
            route = str(getattr(scope.get("route"), "path", "unknown"))  # an unknown path is the user's own words
            describe(span, scope, route, status, request_id)
            self._record(scope, route, status, time.perf_counter() - started)

    def _record(self, scope: Scope, route: str, status: int, seconds: float) -> None:
        self.metrics.requests.labels(route, status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        if route in POLLED_ROUTES and status in (200, 503):
            return
        level = logging.ERROR if status >= 500 else logging.INFO
        fields = {"id": scope["state"]["request_id"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        log_event("request", level=level, **fields, **scope["state"]["log_fields"])
