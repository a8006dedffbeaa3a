"""What an operator can set: sizes, the queue, and who may come in."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite

from cascada.core.errors import CascadaError
from cascada.serve.keys import Keys


@dataclass(frozen=True)
class Settings:
    """Limits are for one request, unless they say otherwise."""

    max_body: int = 8_000_000
    """Bytes."""
    max_documents: int = 1000
    max_document: int = 20_000
    """Characters of one document. It also may not fit the model, which then reads its start and says so."""
    max_question: int = 2000
    """Characters."""
    queue: int = 64
    """Requests that may be inside at once, of all clients together; the next one is told to come again."""
    batch_tokens: int = 16_384
    """Requests are computed together up to so many tokens, at four characters a token."""
    read_seconds: float = 10.0
    """A body that takes longer to arrive is given up on."""
    deadline_ms: float | None = None
    """For requests that name none."""
    keys: Keys = field(default_factory=Keys)
    cors: tuple[str, ...] = ()
    """Origins whose pages may call from a browser; none by default."""
    model: str = "cascada"
    """The name that answers carry."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, (int, float)) and not (isfinite(value) and value > 0):
                raise CascadaError(f"{one.name} is {value}; it must be a number above 0.")
