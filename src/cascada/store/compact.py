"""The data file written anew, without the holes that removed and replaced entries leave."""

from __future__ import annotations

import os
from pathlib import Path

from cascada.store.environment import Environment
from cascada.store.files import data_file, numbers, remove_older


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
