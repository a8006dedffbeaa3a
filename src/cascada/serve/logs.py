"""Logs: one JSON object a line on stderr. What users wrote is in none of them."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cascada.serve.metrics import Metrics
from cascada.serve.responses import Refusal, refused

LOG = logging.getLogger("cascada.serve")


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname.lower(), "event": record.getMessage().strip()}
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1]:
            line |= _fault(record.exc_info[1])
        return json.dumps(line)


def _fault(error: BaseException) -> dict[str, Any]:
    """The kind of error and where it happened; not its message, which may quote a text."""
    error = error.__cause__ or error
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    return {"error": type(error).__name__, "at": [f"{one.filename}:{one.lineno} {one.name}" for one in frames]}


def start_logging() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.root.handlers = [handler]
    logging.root.setLevel(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the hub's client tells every download


def tell(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    LOG.log(level, event, extra={"fields": fields})


QUIET = ("/health", "/ready", "/metrics")
"""Asked for every few seconds by machines; logged only when they fail."""


class Told:
    """ASGI middleware. Handlers put what else is worth telling into `request.state.told`."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status, begun, number = time.perf_counter(), 500, False, uuid4().hex
        scope.setdefault("state", {}).update(told={}, number=number)

        async def numbered(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
                message["headers"] = [*message["headers"], (b"x-request-id", number.encode())]
            await send(message)

        try:
            await self.app(scope, receive, numbered)
        except Exception:  # here and not further out, where an answer would lack its number
            LOG.exception("fault", extra={"fields": {"id": number}})
            if begun:
                raise
            fault = Refusal("failed", "The server could not answer, through a fault of its own.")
            await refused(Request(scope), fault)(scope, receive, numbered)
        finally:
            self._tell(scope, status, time.perf_counter() - started)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = str(getattr(scope.get("route"), "path", "unknown"))  # an unknown path is the user's own words
        self.metrics.requests.labels(route, status).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        if route in QUIET and status == 200:
            return
        level = logging.ERROR if status >= 500 else logging.INFO
        fields = {"id": scope["state"]["number"], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        tell("request", level=level, **fields, **scope["state"]["told"])
