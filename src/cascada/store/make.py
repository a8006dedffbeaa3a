"""A new store's folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import lmdb

from cascada.errors import CascadaError
from cascada.store.files import data_file, is_store
from cascada.store.header import KEY, Header
from cascada.store.trouble import told


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
