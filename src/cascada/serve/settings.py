"""What an operator can set: size limits, the queue, and who may call."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite

from cascada.core.errors import CascadaError
from cascada.serve.keys import ApiKeys


@dataclass(frozen=True)
class ServerSettings:
    """Limits apply to one request, unless they say otherwise."""

    max_body: int = 8_000_000
    """Bytes."""
    max_documents: int = 1000
    max_document: int = 20_000
    """Characters of one document. A shorter one may still not fit the model, which truncates it and says so."""
    max_question: int = 2000
    """Characters."""
    queue: int = 64
    """Requests in the server at once, of all clients together; any further request gets 429."""
    batch_tokens: int = 16_384
    """Requests are batched together up to this many tokens, estimated at four characters per token."""
    read_seconds: float = 10.0
    """A body that takes longer to arrive is rejected."""
    shutdown_seconds: float = 30.0
    """How long a server that is told to stop may take to answer what it has accepted."""
    deadline_ms: float | None = None
    """For requests without one."""
    keys: ApiKeys = field(default_factory=ApiKeys)
    cors: tuple[str, ...] = ()
    """Origins whose pages may call from a browser; none by default."""
    model: str = "cascada"
    """The model name in responses."""

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, (int, float)) and not (isfinite(value) and value > 0):
                raise CascadaError(f"{setting.name} is {value}; it must be a number above 0.")
