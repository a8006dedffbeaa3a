"""API keys: who may call."""

from __future__ import annotations

import hmac
import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cascada.core.errors import CascadaError, described

VARIABLE = "CASCADA_API_KEY"


@dataclass(frozen=True)
class ApiKeys:
    """SHA-256 digests of the accepted keys. Without any key, everyone may call."""

    digests: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, *keys: str) -> ApiKeys:
        return cls(tuple(_digest(key.encode()) for key in keys))

    def accept(self, authorization: str | None) -> bool:
        """Whether the header `Authorization: Bearer KEY` holds one of the keys.

        Compares with every key, each in constant time, so that the response time does not reveal how close a guess was.
        """
        scheme, _, key = (authorization or "").partition(" ")
        sent = _digest(key.strip().encode("latin-1", "replace"))  # servers decode header bytes as Latin-1
        matches = [hmac.compare_digest(digest, sent) for digest in self.digests]
        return not matches or (any(matches) and scheme.lower() == "bearer")


def read_keys(file: Path | None) -> ApiKeys:
    """Read the keys in a file, one per line (lines that begin with # are comments), and those in the variable
    CASCADA_API_KEY, separated by commas or spaces.
    """
    candidates = re.split(r"[,\s]+", os.environ.get(VARIABLE, ""))
    if file is not None:
        candidates += _key_lines(file)
    keys = [key for key in candidates if key]
    if not keys and (file is not None or VARIABLE in os.environ):
        where = str(file) if file is not None else f"The variable {VARIABLE}"
        raise CascadaError(f"{where} holds no key; the server would be open to everyone.")
    return ApiKeys.of(*keys)


def _key_lines(file: Path) -> list[str]:
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise CascadaError(f"The keys in {file} cannot be read: {described(error)}.") from error
    return [line for line in lines if not line.startswith("#")]


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()
