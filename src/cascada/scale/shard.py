"""One shard of a store: filled on the worker's own disk, then copied to its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cascada.scale.files import copy_file, is_local, local_copy, names_in, remove
from cascada.scale.models import load_once
from cascada.store import Encoder, fill, store_for
from cascada.store.folder import data_file, data_numbers, newest_data_file


@dataclass(frozen=True)
class EncodingJob:
    """What all shards of a store have in common."""

    load: Callable[[], Encoder]
    """Loads the encoder in a worker; must be picklable."""
    form: str | None = None
    """Number format; None: that of the existing store, or int8."""
    cpus: float = 1
    """Cores per shard."""


def fill_shard(job: EncodingJob, url: str, texts: Sequence[str]) -> int:
    """Encode the texts that the shard at `url` lacks; return how many there were.

    LMDB needs a local disk, so the data file is written there and copied to `url` under the shard's next number. A
    worker that dies on the way leaves the shard as it was.
    """
    encoder = load_once(job.load, cpus=job.cpus)
    last = max(data_numbers(names_in(url)), default=0)
    if last and is_local(url) and not store_for(encoder, Path(url), job.form, write=False).missing(texts):
        return 0
    with TemporaryDirectory(prefix="cascada-shard-") as work:
        folder = Path(work)
        if last:
            with local_copy(f"{url}/{data_file(folder, last).name}") as existing:
                copy_file(existing, str(data_file(folder, last)))
        added = fill(store_for(encoder, folder, job.form), encoder, texts)
        if added:
            copy_file(newest_data_file(folder), f"{url}/{data_file(folder, last + 1).name}")
            _remove_older(url, last)
        return added


def _remove_older(url: str, last: int) -> None:
    """Remove the data files up to number `last`, and their lock files."""
    for name in names_in(url):
        if any(number <= last for number in data_numbers([name.removesuffix("-lock")])):
            remove(f"{url}/{name}")
