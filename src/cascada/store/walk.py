"""Every entry of a store, a few at a time: one long transaction would keep a writer from using old pages again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TypeVar

import lmdb

from cascada.store.environment import Environment
from cascada.store.header import KEY

AT_ONCE = 256

Seen = TypeVar("Seen")
Look = Callable[[bytes, memoryview], Seen]


def walk(environment: Environment, look: Look[Seen]) -> Iterator[Seen]:
    """What `look` makes of each entry, in the order of the keys."""
    after: bytes | None = b""
    while after is not None:
        seen, after = environment.run(partial(_next, look, after))
        yield from seen


def _next(look: Look[Seen], after: bytes, transaction: lmdb.Transaction[memoryview]) -> tuple[list[Seen], bytes | None]:
    """What is seen of the next entries, and the last one's key; None at the end."""
    cursor = transaction.cursor()
    if not cursor.set_range(after + b"\0"):
        return [], None
    found: list[Seen] = []
    key = after
    for view, value in islice(cursor.iternext(), AT_ONCE):
        key = bytes(view)
        if key != KEY:
            found.append(look(key, value))
    return found, key
