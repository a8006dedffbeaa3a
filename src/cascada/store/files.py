"""The files of a store's folder: `encodings-N.mdb` is LMDB's data, and the highest N is the store.

Compacting writes the next one; whoever still reads an older one is not disturbed.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from cascada.errors import CascadaError

_DATA = re.compile(r"encodings-(\d+)\.mdb")


def data_file(folder: Path, number: int) -> Path:
    return folder / f"encodings-{number}.mdb"


def numbers(folder: Path) -> list[int]:
    """Of the data files, in order; none if the folder is no store, or is not there."""
    try:
        found = [_DATA.fullmatch(name) for name in os.listdir(folder)]
    except OSError:
        return []
    return sorted(int(name[1]) for name in found if name)


def is_store(folder: Path) -> bool:
    return bool(numbers(folder))


def newest(folder: Path) -> Path:
    """The data file to read and write."""
    found = numbers(folder)
    if not found:
        raise CascadaError(f"{folder} is not a store of encodings: make one with `cascada encode`.")
    return data_file(folder, found[-1])


def remove_older(folder: Path) -> None:
    """Data files that compacting has replaced, and their lock files, which LMDB calls `encodings-N.mdb-lock`."""
    last = numbers(folder)[-1]
    for name in os.listdir(folder):
        found = _DATA.fullmatch(name.removesuffix("-lock"))
        if found and int(found[1]) < last:
            with suppress(OSError):  # in use, where files in use stay: a later compacting may have more luck
                os.remove(folder / name)
