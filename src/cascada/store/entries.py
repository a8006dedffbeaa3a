"""The contents of a store's LMDB database: one header, and one entry per text.

| key | value |
|---|---|
| `header` | JSON: format version, the encoder's fingerprint, width, number format |
| SHA-256 of the text | CRC-32 of key and encoding (4 bytes), then the encoding in the store's number format |
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from cascada.core.errors import CascadaError
from cascada.store.number_formats import FORMS, Floats2d, checked_form
from cascada.text.context import InContext

FORMAT = 1
"""Version of the header, the keys and the values. A store of another version is rejected."""

HEADER_KEY = b"header"
"""Shorter than any text's key, so it cannot be one."""

CHECKSUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class Header:
    """Which encoder's encodings a store holds, and how."""

    fingerprint: str
    """The encoder's."""
    width: int
    """Values per token."""
    form: str
    """Number format: a key of `FORMS`."""
    format: int = FORMAT

    def __post_init__(self) -> None:
        checked_form(self.form)
        if isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 1:
            raise CascadaError(f"width is {self.width!r}; it must be a whole number from 1.")
        if not isinstance(self.fingerprint, str) or not self.fingerprint:
            raise CascadaError("A store needs the fingerprint of its encoder.")

    @property
    def token_bytes(self) -> int:
        """Bytes per token on disk."""
        return FORMS[self.form].token_bytes(self.width)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, packed: bytes, folder: Path) -> Header:
        """Parse a header; error messages name the store's `folder`."""
        try:
            fields = json.loads(packed)
            version = fields["format"]
            if version == FORMAT:
                return cls(**fields)
        except (ValueError, TypeError, KeyError) as error:
            raise CascadaError(f"{folder} is not a store of encodings, or its header is damaged.") from error
        problem = f"{folder} was made by another version of Cascada (store format {version}, this one reads {FORMAT})"
        raise CascadaError(f"{problem}: build it again with `cascada encode`.")

    def check(self, fingerprint: str | None, folder: Path) -> None:
        """Reject a store of another encoder than the one with this fingerprint; None accepts any."""
        if fingerprint is not None and fingerprint != self.fingerprint:
            problem = f"{folder} holds the encodings of another model ({self.fingerprint[:12]}, not {fingerprint[:12]})"
            raise CascadaError(f"{problem}: make a store for this one with `cascada encode`.")


def key_of(text: str) -> bytes:
    """The key of a text's entry. A text in a context is encoded differently from the same characters without one."""
    characters = f"{text.context}\0{text.text}" if isinstance(text, InContext) and text.context else text
    return sha256(characters.encode("utf-8", "surrogatepass")).digest()


def pack(key: bytes, encoding: ArrayLike, header: Header) -> bytes:
    """The value of an entry. Its checksum covers the key, so that a value under a wrong key is detected, too."""
    body = FORMS[header.form].pack(_checked(encoding, header.width))
    return _checksum(key, body) + body


def unpack(values: Sequence[memoryview | None], header: Header) -> list[Floats2d | None]:
    """The encodings in some values, all in one array, which is faster than allocating many; None stays None."""
    form = FORMS[header.form]
    lengths = [0 if value is None else token_count(value, header) for value in values]
    block = np.empty((sum(lengths), header.width), np.float32)
    encodings: list[Floats2d | None] = []
    start = 0
    for value, length in zip(values, lengths, strict=True):
        part = block[start : start + length]
        start += length
        if value is not None:
            form.unpack(value[CHECKSUM_BYTES:], part)
        encodings.append(None if value is None else part)
    return encodings


def token_count(value: memoryview, header: Header) -> int:
    """The number of tokens of an entry, which follows from its length."""
    count, remainder = divmod(len(value) - CHECKSUM_BYTES, header.token_bytes)
    if remainder or count < 1:
        raise CascadaError("The store has a damaged entry: `cascada store verify` finds which, and can remove it.")
    return count


def is_intact(key: bytes, value: memoryview, header: Header) -> bool:
    """Whether an entry has a possible length and the right checksum."""
    whole = len(value) > CHECKSUM_BYTES and (len(value) - CHECKSUM_BYTES) % header.token_bytes == 0
    return whole and _checksum(key, value[CHECKSUM_BYTES:]) == value[:CHECKSUM_BYTES]


def _checksum(key: bytes, body: bytes | memoryview) -> bytes:
    return crc32(body, crc32(key)).to_bytes(CHECKSUM_BYTES, "little")


def _checked(encoding: ArrayLike, width: int) -> Floats2d:
    array = np.asarray(encoding, np.float32)
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise CascadaError(f"An encoding has the shape {array.shape}; this store takes (tokens, {width}).")
    if not np.isfinite(array).all():
        raise CascadaError("An encoding has values that are not finite: the model's weights may be damaged.")
    return array
