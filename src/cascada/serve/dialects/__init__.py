"""API dialects, one module per kind of client.

Each module has its paths, its request model, `error_body` (the shape of its errors) and `add_routes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cascada.serve.dialects import cohere, own, tei
from cascada.serve.responses import ApiError

DIALECTS = (own, cohere, tei)

_ERROR_BODIES: dict[str, Callable[[ApiError, str], Any]] = {
    path: dialect.error_body for dialect in DIALECTS for path in dialect.PATHS
}


def error_body_of(path: str) -> Callable[[ApiError, str], Any]:
    """How errors look to the clients of this path; in our own dialect where the path is no other's."""
    return _ERROR_BODIES.get(path, own.error_body)
