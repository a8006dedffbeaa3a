"""API keys: who may call."""

from __future__ import annotations

import hmac
import os
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cascada.core.errors import CascadaError

VARIABLE = "CASCADA_API_KEY"


@dataclass(frozen=True)
class Keys:
    """Digests of the keys that open the door; without any it stands open."""

    digests: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, *keys: str) -> Keys:
        return cls(tuple(_digest(key.encode()) for key in keys))

    def open_with(self, authorization: str | None) -> bool:
        """Whether a header `Authorization: Bearer KEY` has one of the keys.

        Every key is compared, and all of each, so that time does not tell how near a guess was.
        """
        scheme, _, key = (authorization or "").partition(" ")
        given = _digest(key.strip().encode("latin-1", "replace"))  # a header's text is its bytes, one by one
        found = [hmac.compare_digest(digest, given) for digest in self.digests]
        return not found or (any(found) and scheme.lower() == "bearer")


def read_keys(file: Path | None) -> Keys:
    """The keys in a file, one a line (lines with # in front are remarks), and those in the variable CASCADA_API_KEY,
    with commas between.
    """
    told = re.split(r"[,\s]+", os.environ.get(VARIABLE, ""))
    if file is not None:
        told += _lines(file)
    keys = [key for key in told if key]
    if not keys and (file is not None or VARIABLE in os.environ):
        where = str(file) if file is not None else f"The variable {VARIABLE}"
        raise CascadaError(f"{where} holds no key, which would leave the door open.")
    return Keys.of(*keys)


def _lines(file: Path) -> list[str]:
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise CascadaError(f"The keys in {file} cannot be read: {error}.") from error
    return [line for line in lines if not line.startswith("#")]


def _digest(key: bytes) -> bytes:
    return sha256(key).digest()
