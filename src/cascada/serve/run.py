"""The serving process: its socket, its logs, its shutdown."""

from __future__ import annotations

import logging
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from cascada.core.errors import CascadaError
from cascada.serve.logs import log_event, start_logging

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(app: FastAPI, *, host: str, port: int, has_keys: bool) -> None:
    """Serve until SIGTERM or SIGINT; then accept no more connections and finish what was accepted."""
    listening = _listen(host, port)
    start_logging()
    log_event("listening", host=host, port=listening.getsockname()[1])
    if not has_keys and host not in LOOPBACK:
        warning = "everyone who can reach this address may call: there are no API keys"
        log_event(warning, level=logging.WARNING)
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, _exit)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


def _exit(signal_number: int, frame: object) -> None:
    """Exit with code 0: after shutdown, uvicorn raises the signal again, but a requested end is no failure."""
    sys.exit(0)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise CascadaError(f"Cannot listen on {host}, port {port}: {error}.") from error
