"""The number formats of a store: what becomes of an encoding on disk."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from cascada.core.errors import CascadaError
from cascada.store.format import FORMS, Floats2d, Header


def key(text: str) -> bytes:
    """What a text is found by."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def packed(name: bytes, encoding: ArrayLike, header: Header) -> bytes:
    """An entry's value. The checksum covers the key: an entry that stands in another's place is found, too."""
    body = FORMS[header.form].pack(_checked(encoding, header.width))
    return _checksum(name, body) + body


def unpacked(values: Sequence[memoryview | None], header: Header) -> list[Floats2d | None]:
    """The encodings, parts of one array (which is faster to make than many); None stays None."""
    form = FORMS[header.form]
    lengths = [0 if value is None else tokens(value, header) for value in values]
    block = np.empty((sum(lengths), header.width), np.float32)
    found: list[Floats2d | None] = []
    start = 0
    for value, length in zip(values, lengths, strict=True):
        part = block[start : start + length]
        start += length
        if value is not None:
            form.unpack(value[CHECKSUM:], part)
        found.append(None if value is None else part)
    return found


def tokens(value: memoryview, header: Header) -> int:
    """How many an entry has, by its length alone."""
    count, rest = divmod(len(value) - CHECKSUM, header.token_bytes)
    if rest or count < 1:
        raise CascadaError("The store has a damaged entry: `cascada store verify` finds which, and can remove it.")
    return count


def is_sound(name: bytes, value: memoryview, header: Header) -> bool:
    """Whether an entry is what was put there."""
    whole = len(value) > CHECKSUM and (len(value) - CHECKSUM) % header.token_bytes == 0
    return whole and _checksum(name, value[CHECKSUM:]) == value[:CHECKSUM]


def _checksum(name: bytes, body: bytes | memoryview) -> bytes:
    return crc32(body, crc32(name)).to_bytes(CHECKSUM, "little")


def _checked(encoding: ArrayLike, width: int) -> Floats2d:
    array = np.asarray(encoding, np.float32)
    if array.ndim != 2 or array.shape[1] != width or not len(array):
        raise CascadaError(f"An encoding has the shape {array.shape}; this store takes (tokens, {width}).")
    if not np.isfinite(array).all():
        raise CascadaError("An encoding has numbers that are not finite: the model's weights may be damaged.")
    return array


CHECKSUM = 4
"""Bytes before the packed encoding."""
