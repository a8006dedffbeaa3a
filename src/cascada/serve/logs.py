"""Logs: one JSON object a line on stderr. What users wrote is in none of them."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

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
