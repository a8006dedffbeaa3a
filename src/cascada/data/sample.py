"""Seeded samples, drawn at random or spread evenly, that represent the whole."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from heapq import nsmallest
from typing import TypeVar

Item = TypeVar("Item")


def sample(items: Iterable[Item], count: int, key: Callable[[Item], str], *, seed: int = 0) -> list[Item]:
    """Draw `count` items without replacement, in their order; all of them if there are no more.

    The items whose keys have the smallest digests are drawn. So whether an item is drawn does not depend on the order
    of the others, a larger sample contains the smaller ones, and one pass over the items is enough.
    """
    keyed = ((_digest(key(item), seed), position, item) for position, item in enumerate(items))
    drawn = nsmallest(count, keyed)
    return [item for _, _, item in sorted(drawn, key=lambda entry: entry[1])]


def evenly_spaced(items: Sequence[Item], count: int | None) -> list[Item]:
    """`count` items at equal distances, from the first on; all of them if there are no more or if it is None.

    >>> evenly_spaced(range(10), 4)
    [0, 2, 5, 7]
    """
    count = len(items) if count is None else min(count, len(items))
    return [items[place * len(items) // count] for place in range(count)]


def even_shares(sizes: Sequence[int], count: int) -> list[int]:
    """Divide `count` over lists of these sizes as evenly as the sizes allow; the first lists get what is left over.

    >>> even_shares([1, 9, 9], 10)
    [1, 5, 4]
    """
    shares = [0] * len(sizes)
    left = min(count, sum(sizes))
    while left:
        open_lists = [index for index, size in enumerate(sizes) if shares[index] < size]
        portion = max(1, left // len(open_lists))
        for index in open_lists:
            added = min(portion, sizes[index] - shares[index], left)
            shares[index] += added
            left -= added
    return shares


def spread_positions(sizes: Sequence[int], count: int, seed: int) -> list[list[int]]:
    """Draw `count` positions from lists of these sizes, as evenly over the lists as possible; each in ascending order.

    Which lists get one more than others is drawn too, so that few positions do not all come from the first lists.
    """
    draw = random.Random(seed)
    order = draw.sample(range(len(sizes)), len(sizes))
    shares = dict(zip(order, even_shares([sizes[index] for index in order], count), strict=True))
    return [sorted(draw.sample(range(size), shares[index])) for index, size in enumerate(sizes)]


def _digest(key: str, seed: int) -> bytes:
    return blake2b(key.encode(), digest_size=16, salt=seed.to_bytes(16, "little")).digest()
