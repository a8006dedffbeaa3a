"""The serving process: its socket, its logs, its shutdown."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from typing import Any

import uvicorn
from fastapi import FastAPI

from cascada.core.errors import CascadaError, described
from cascada.serve.logs import log_event, start_logging

LOOPBACK = ("127.0.0.1", "::1", "localhost")

OPTIONS: dict[str, Any] = {"http": "h11", "ws": "none", "log_config": None, "access_log": False, "server_header": False}
"""The same parser whatever is installed, and no WebSockets: an upgrade request is answered like any other."""


def run(app: FastAPI, *, host: str, port: int, has_keys: bool, shutdown_seconds: float) -> None:
    """Serve until SIGTERM or SIGINT; then accept no more connections and finish what was accepted.

    After `shutdown_seconds`, or at a second signal, the process ends with what it has.
    """
    listening = _listen(host, port)
    start_logging()
    log_event("listening", host=host, port=listening.getsockname()[1])
    if not has_keys and host not in LOOPBACK:
        warning = "everyone who can reach this address may call: there are no API keys"
        log_event(warning, level=logging.WARNING)
    server = Server(uvicorn.Config(app, **OPTIONS), shutdown_seconds)
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, server.handle_exit)  # also before uvicorn takes them over, and after
    server.run(sockets=[listening])


class Server(uvicorn.Server):
    """Exits with code 0 once all accepted requests are answered, and with another code if it has to stop before.

    A client may never read its response, a batch may take arbitrarily long, and the computing thread cannot be stopped.
    So the process ends itself when the time is over.
    """

    def __init__(self, config: uvicorn.Config, shutdown_seconds: float) -> None:
        super().__init__(config)
        self.shutdown_seconds = shutdown_seconds

    def handle_exit(self, sig: int, frame: object) -> None:
        """Shut down at the first signal, and end at the second. uvicorn would wait again after a second SIGTERM."""
        if self.should_exit:
            self._end("ended by a second signal", 128 + sig)
        self.should_exit = True
        timer = threading.Timer(self.shutdown_seconds, self._end, ("shutdown timed out", 1))
        timer.daemon = True  # a shutdown that is quicker does not wait for it
        timer.start()

    def _end(self, event: str, code: int) -> None:
        try:
            log_event(event, level=logging.WARNING, unanswered=len(self.server_state.tasks))
        finally:
            os._exit(code)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise CascadaError(f"Cannot listen on {host}, port {port}: {described(error)}.") from error
