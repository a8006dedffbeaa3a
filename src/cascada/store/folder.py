"""The files of a store's folder: `encodings-N.mdb` is LMDB's data, and the highest N is the store.

Compacting writes the next one; whoever still reads an older one is not disturbed. The folder of a store in shards holds
such folders, `shard-00003-of-00008`, all of them or some.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import lmdb

from cascada.core.errors import CascadaError
from cascada.store.format import KEY, Header
from cascada.store.lmdb_file import told

_DATA = re.compile(r"encodings-(\d+)\.mdb")


_SHARD = re.compile(r"shard-(\d{5})-of-(\d{5})")


def data_file(folder: Path, number: int) -> Path:
    return folder / f"encodings-{number}.mdb"


def numbers(folder: Path) -> list[int]:
    """Of the data files, in order; none if the folder is no store, or is not there."""
    return data_numbers(_names(folder))


def data_numbers(names: Iterable[str]) -> list[int]:
    """The numbers of the data files among some names, in order."""
    found = (_DATA.fullmatch(name) for name in names)
    return sorted(int(name[1]) for name in found if name)


def shard_name(number: int, shards: int) -> str:
    """Shards are counted from 0."""
    return f"shard-{number:05d}-of-{shards:05d}"


def shard_numbers(names: Iterable[str]) -> list[tuple[int, int]]:
    """(number, how many there are) of the shards among some names, in order."""
    found = (_SHARD.fullmatch(name) for name in names)
    return sorted((int(name[1]), int(name[2])) for name in found if name)


def is_sharded(folder: Path) -> bool:
    return bool(shard_numbers(_names(folder)))


def is_store(folder: Path) -> bool:
    return bool(numbers(folder))


def newest(folder: Path) -> Path:
    """The data file to read and write."""
    found = numbers(folder)
    if not found and is_sharded(folder):
        one = shard_name(*shard_numbers(_names(folder))[0])
        raise CascadaError(f"{folder} is a store in shards: name one of them, such as {folder / one}.")
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


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def make(folder: Path, header: Header) -> None:
    """An empty store, made under another name and renamed: a kill on the way leaves none."""
    if is_store(folder):
        raise CascadaError(f"{folder} is a store already.")
    target = folder.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    with told(folder):
        if target.exists() and not (target.is_dir() and not os.listdir(target)):
            raise CascadaError(f"{folder} is not a store and not empty: give the store a folder of its own.")
        try:
            part.mkdir(parents=True)
            _write(data_file(part, 1), header)
            os.replace(part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _write(file: Path, header: Header) -> None:
    with lmdb.open(str(file), subdir=False, mode=0o644) as made, made.begin(write=True) as transaction:
        transaction.put(KEY, header.packed())
