"""spaCy's vector table, read without spaCy: `vectors` (a NumPy array) and `key2row` (a word's hash → its row).

Words whose vectors were pruned share the row of their nearest neighbour: spaCy's medium English package has 20,000 rows
for 514,157 words.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError, described

_MULTIPLIER = 0xC6A4A7935BD1E995
_MASK = 2**64 - 1

_HEADER = re.compile(rb"[\x80-\x8f]|\xde..|\xdf.{4}", re.DOTALL)
_NUMBER = re.compile(rb"[\x00-\x7f]|\xcc.|\xcd..|\xce.{4}|\xcf.{8}", re.DOTALL)
"""Map headers and unsigned integers of MessagePack: the first byte says how many bytes follow."""


def read(folder: Path, wanted: Iterable[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Yield the wanted words that the table has; `folder` is the table's own or one above it."""
    home = next((path.parent for path in sorted(folder.rglob("key2row"))), None)
    if home is None:
        raise CascadaError(
            f"{folder} has no table of word vectors: spaCy keeps it in a folder with key2row and vectors."
        )
    try:
        table = np.load(home / "vectors", allow_pickle=False)
        rows = read_map((home / "key2row").read_bytes())
    except (OSError, ValueError) as error:
        raise CascadaError(f"{home} cannot be read as a table of word vectors: {described(error)}.") from error
    for word in wanted:
        row = rows.get(hash_of(word), len(table))
        if row < len(table):
            yield word, table[row].astype(np.float32)


def hash_of(word: str) -> int:
    """spaCy's hash of a string: MurmurHash64A of its UTF-8 bytes, with seed 1.

    >>> hash_of("coffee")
    3197928453018144401
    """
    data = word.encode("utf-8", "replace")
    whole = len(data) // 8 * 8
    value = 1 ^ (len(data) * _MULTIPLIER & _MASK)
    for (block,) in struct.iter_unpack("<Q", data[:whole]):
        value = (value ^ _mixed(block)) * _MULTIPLIER & _MASK
    if data[whole:]:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 47) * _MULTIPLIER & _MASK
    return value ^ value >> 47


def _mixed(block: int) -> int:
    block = block * _MULTIPLIER & _MASK
    return (block ^ block >> 47) * _MULTIPLIER & _MASK


def read_map(data: bytes) -> dict[int, int]:
    """Parse a MessagePack map of unsigned integers to unsigned integers."""
    header = _HEADER.match(data)
    if header is None:
        raise ValueError("key2row is not a map")
    count = data[0] & 0x0F if len(header[0]) == 1 else int.from_bytes(header[0][1:], "big")
    numbers = [_number(encoded) for encoded in _NUMBER.findall(data, header.end())]
    if len(numbers) != 2 * count:
        raise ValueError(f"key2row holds {len(numbers) / 2:g} entries but declares {count}")
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def _number(encoded: bytes) -> int:
    return int.from_bytes(encoded if len(encoded) == 1 else encoded[1:], "big")
