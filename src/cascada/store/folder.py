"""The files of a store's folder: `encodings-N.mdb` is an LMDB file, and the one with the highest N is the store.

Compacting writes the next number, so that processes which still read the older file are not disturbed. The folder of a
sharded store holds such folders, `shard-00003-of-00008`: all of them or some.
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
from cascada.store.entries import HEADER_KEY, Header
from cascada.store.lmdb_file import lmdb_errors_as_sentences

_DATA = re.compile(r"encodings-(\d+)\.mdb")
_SHARD = re.compile(r"shard-(\d{5})-of-(\d{5})")


def data_file(folder: Path, number: int) -> Path:
    return folder / f"encodings-{number}.mdb"


def newest_data_file(folder: Path) -> Path:
    """The data file to read and write."""
    numbers = data_numbers(_names(folder))
    if numbers:
        return data_file(folder, numbers[-1])
    if is_sharded(folder):
        example = shard_name(*shard_numbers(_names(folder))[0])
        raise CascadaError(f"{folder} is a sharded store: name one of its shards, such as {folder / example}.")
    raise CascadaError(f"{folder} is not a store of encodings: make one with `cascada encode`.")


def next_data_file(folder: Path) -> Path:
    """The name that makes a new file the store's data file."""
    return data_file(folder, data_numbers(_names(folder))[-1] + 1)


def data_numbers(names: Iterable[str]) -> list[int]:
    """The numbers of the data files among some file names, in order."""
    matches = (_DATA.fullmatch(name) for name in names)
    return sorted(int(match[1]) for match in matches if match)


def shard_name(number: int, shards: int) -> str:
    """Shards are counted from 0."""
    return f"shard-{number:05d}-of-{shards:05d}"


def shard_numbers(names: Iterable[str]) -> list[tuple[int, int]]:
    """(number, total number of shards) of the shards among some folder names, in order."""
    matches = (_SHARD.fullmatch(name) for name in names)
    return sorted((int(match[1]), int(match[2])) for match in matches if match)


def is_sharded(folder: Path) -> bool:
    """Whether a folder holds shards."""
    return bool(shard_numbers(_names(folder)))


def is_store(folder: Path) -> bool:
    """Whether a folder holds a store in one piece, or one shard."""
    return bool(data_numbers(_names(folder)))


def create_store(folder: Path, header: Header) -> None:
    """Make an empty store. It is built under a temporary name and renamed, so a kill leaves no half-made store."""
    if is_store(folder):
        raise CascadaError(f"{folder} is a store already.")
    target = folder.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    with lmdb_errors_as_sentences(folder):
        if target.exists() and not (target.is_dir() and not os.listdir(target)):
            raise CascadaError(f"{folder} is not a store and not empty: give the store a folder of its own.")
        try:
            temporary.mkdir(parents=True)
            _create_data_file(data_file(temporary, 1), header)
            os.replace(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def remove_older(folder: Path) -> None:
    """Remove data files that compacting has replaced, and their lock files, which LMDB calls `encodings-N.mdb-lock`."""
    newest = data_numbers(_names(folder))[-1]
    for name in os.listdir(folder):
        match = _DATA.fullmatch(name.removesuffix("-lock"))
        if match and int(match[1]) < newest:
            with suppress(OSError):  # some systems do not remove files in use; the next compacting tries again
                os.remove(folder / name)


def _create_data_file(file: Path, header: Header) -> None:
    with lmdb.open(str(file), subdir=False, mode=0o644) as database, database.begin(write=True) as transaction:
        transaction.put(HEADER_KEY, header.to_bytes())


def _names(folder: Path) -> list[str]:
    """The names in a folder; none if it is missing or cannot be listed."""
    try:
        return os.listdir(folder)
    except OSError:
        return []
