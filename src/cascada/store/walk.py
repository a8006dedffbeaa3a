"""Every entry of a store, a few at a time: one long transaction would keep a writer from using old pages again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import lmdb

from cascada.store.environment import Environment
from cascada.store.folder import data_file, numbers, remove_older
from cascada.store.format import KEY

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


def compact(environment: Environment) -> None:
    """Write the next data file of a store; it is the store's as soon as it has its name."""
    # The transaction changes nothing: it keeps others from writing to the old file until the new one is there.
    environment.run(lambda _: _written(environment), write=True)
    remove_older(environment.folder)


def _written(environment: Environment) -> None:
    part = environment.folder / "compacting.part"
    part.unlink(missing_ok=True)  # of one that was killed
    try:
        environment.copy(part)
        _to_disk(part)
        os.replace(part, data_file(environment.folder, numbers(environment.folder)[-1] + 1))
    finally:
        part.unlink(missing_ok=True)


def _to_disk(file: Path) -> None:
    with open(file, "rb+") as written:
        os.fsync(written.fileno())
