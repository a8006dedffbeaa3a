"""JSON answers. Python's own writer, in ASCII: what came in as a broken character goes out as it came."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from cascada.serve.refusal import Refusal


def answer(content: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
    return Response(body, status, headers, "application/json")


def refused(request: Request, refusal: Refusal) -> Response:
    """In the shape that the clients of this path understand."""
    from cascada.serve.dialects import shape_of

    content = shape_of(request.url.path)(refusal)
    request.state.told["reason"] = refusal.reason
    return answer(content, status=refusal.status, headers=refusal.headers)
