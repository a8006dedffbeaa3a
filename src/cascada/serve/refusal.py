"""No, and why: every answer that is not what was asked for, before a dialect gives it its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Reason = Literal[
    "malformed", "invalid", "empty", "too_large", "unauthorized", "overloaded", "too_slow", "unsupported",
    "not_found", "not_allowed", "elsewhere", "failed",
]  # fmt: skip

STATUS: Mapping[Reason, int] = {
    "malformed": 400,
    "empty": 400,
    "unauthorized": 401,
    "not_found": 404,
    "not_allowed": 405,
    "too_slow": 408,
    "too_large": 413,
    "unsupported": 415,
    "elsewhere": 421,
    "invalid": 422,
    "overloaded": 429,
    "failed": 500,
}


class Refusal(Exception):
    """A request that is not answered, with a sentence for the one who sent it."""

    def __init__(self, reason: Reason, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return STATUS[self.reason]


class Gone(Exception):
    """The client hung up; there is nobody to answer."""
