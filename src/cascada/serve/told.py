"""Around every request: its number, its line in the log and its place in the metrics."""

from __future__ import annotations

import logging
import time
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cascada.serve.logs import tell
from cascada.serve.metrics import Metrics

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
        started, status, number = time.perf_counter(), 500, uuid4().hex
        scope.setdefault("state", {}).update(told={}, number=number)

        async def numbered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", number.encode())]
            await send(message)

        try:
            await self.app(scope, receive, numbered)
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
