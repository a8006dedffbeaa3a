"""Is what was put into a store still what is in it?"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path

from lmdb.verify import VerifyError
from lmdb.verify import verify as problems_of

from cascada.errors import CascadaError
from cascada.store import entry
from cascada.store.files import newest
from cascada.store.store import Store
from cascada.store.trouble import told

TRIES = 5
_METAS = 2 * mmap.PAGESIZE
"""Where LMDB says which pages are in use: every change of the file changes this part."""


def damaged(store: Store, *, advance: Callable[[int], object] | None = None) -> Iterator[bytes]:
    """The keys of the entries whose checksum is wrong. `advance` hears of every entry that was looked at."""
    for name, sound in store.walk(lambda name, value: (name, entry.is_sound(name, value, store.header))):
        if advance:
            advance(1)
        if not sound:
            yield name


def check_structure(folder: str | PathLike[str]) -> None:
    """Refuse a store whose file hangs together badly, before LMDB, which trusts its pages, opens it."""
    path = Path(folder)
    for _ in range(TRIES):
        file = newest(path)
        with told(path):
            before = _metas(file)
            found = _problems(file)
            if not found or before == _metas(file):
                break
    else:
        raise CascadaError(f"{path} is being written to: verify it when that has ended.")
    if found:
        raise CascadaError(f"{path} is damaged beyond single entries ({found[0]}): make it anew with `cascada encode`.")


def _problems(file: Path) -> list[str]:
    try:
        return list(problems_of(str(file), subdir=False))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        return [str(error)]


def _metas(file: Path) -> bytes:
    with open(file, "rb") as opened:
        return opened.read(_METAS)
