"""A process that serves: its socket, its logs, its end."""

from __future__ import annotations

import logging
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from cascada.core.errors import CascadaError
from cascada.serve.logs import start_logging, tell

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def run(app: FastAPI, *, host: str, port: int, keys: bool) -> None:
    """Serve until SIGTERM or SIGINT; then no more connections are taken, and what was accepted is finished."""
    listening = _socket(host, port)
    start_logging()
    tell("listening", host=host, port=listening.getsockname()[1])
    if not keys and host not in LOOPBACK:
        tell("everyone who can reach this address may call: there are no keys", level=logging.WARNING)
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, _end)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listening])


def _end(number: int, frame: object) -> None:
    """uvicorn raises the signal that ended it once more when all is finished: being told to end is no failure."""
    sys.exit(0)


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise CascadaError(f"{host}, port {port}, cannot be listened on: {error}.") from error
