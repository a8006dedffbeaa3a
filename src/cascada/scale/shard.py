"""One shard of a store: filled where the worker is, and put in its place when it is whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cascada.scale.files import here, is_local, names_in, place, remove
from cascada.scale.models import loaded
from cascada.store import Encoder, fill, store_for
from cascada.store.folder import data_file, data_numbers, newest


@dataclass(frozen=True)
class Filling:
    """What goes for all shards of a store."""

    load: Callable[[], Encoder]
    form: str | None
    cpus: float = 1


def fill_shard(filling: Filling, url: str, texts: Sequence[str]) -> int:
    """Encode the texts that the shard at `url` has not yet; how many those were.

    LMDB wants a disk of this machine's own, so the data file is written there and goes to `url` as the next one of the
    shard. A worker that dies on the way leaves the shard as it was.
    """
    encoder = loaded(filling.load, cpus=filling.cpus)
    last = max(data_numbers(names_in(url)), default=0)
    if last and is_local(url) and not store_for(encoder, Path(url), filling.form, write=False).missing(texts):
        return 0
    with TemporaryDirectory(prefix="cascada-shard-") as work:
        folder = Path(work)
        if last:
            with here(f"{url}/{data_file(folder, last).name}") as there:
                place(there, str(data_file(folder, last)))
        added = fill(store_for(encoder, folder, filling.form), encoder, texts)
        if added:
            place(newest(folder), f"{url}/{data_file(folder, last + 1).name}")
            _remove_older(url, last)
        return added


def _remove_older(url: str, last: int) -> None:
    """The data files before the one that was put there, and what LMDB has beside them."""
    for name in names_in(url):
        if any(number <= last for number in data_numbers([name.removesuffix("-lock")])):
            remove(f"{url}/{name}")
