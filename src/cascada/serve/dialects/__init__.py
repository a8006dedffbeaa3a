"""One file for each kind of client. Each has its request, its answers, `refusal` (how it is told no) and `routes`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cascada.serve.dialects import cohere, own, tei
from cascada.serve.responses import Refusal

ALL = (own, cohere, tei)

_SHAPES: dict[str, Callable[[Refusal], Any]] = {path: dialect.refusal for dialect in ALL for path in dialect.PATHS}


def shape_of(path: str) -> Callable[[Refusal], Any]:
    """How the clients that call this path are told no; ours where nobody else's is."""
    return _SHAPES.get(path, own.refusal)
