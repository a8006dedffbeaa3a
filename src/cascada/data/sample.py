"""Seeded samples that stand for the whole of what they are drawn from."""

from __future__ import annotations

import random
from collections.abc import Sequence


def even_shares(sizes: Sequence[int], count: int) -> list[int]:
    """Divide `count` over lists of these sizes as evenly as the sizes allow; the first lists get what is left over.

    >>> even_shares([1, 9, 9], 10)
    [1, 5, 4]
    """
    shares = [0] * len(sizes)
    left = min(count, sum(sizes))
    while left:
        open_lists = [index for index, size in enumerate(sizes) if shares[index] < size]
        each = max(1, left // len(open_lists))
        for index in open_lists:
            added = min(each, sizes[index] - shares[index], left)
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
