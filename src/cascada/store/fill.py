"""Filling a store: encode every text that it lacks, in one process or several, and resume after a kill."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.core.processors import cores
from cascada.core.workers import map_in_order
from cascada.store.folder import is_store
from cascada.store.number_formats import Floats2d
from cascada.store.store import Store

BATCH = 32
"""Texts that are encoded together and written in one transaction: a kill loses at most this many for each worker."""

WINDOW = 2048
"""Texts that are looked up together, then sorted by length, so that batches need little padding."""

EncodedBatch = tuple[list[str], list[Floats2d]]


class Encoder(Protocol):
    """Turns texts into token encodings, such as the document side of a decoupled ranker."""

    @property
    def fingerprint(self) -> str:
        """Identifies the weights and everything else that changes an encoding. A store belongs to one fingerprint.

        Whether a decoupled ranker encoded in float32 or bfloat16 is not part of it; docs/store.md says why.
        """

    @property
    def width(self) -> int:
        """Values per token."""

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array of (tokens, width) for each text, in order."""


class LoadedInEachProcess:
    """An encoder that is sent to other processes as the function that loads it, without its weights.

    `load` must be picklable, such as `functools.partial(document_encoder, "runs/dc-bert")`.
    """

    def __init__(self, load: Callable[[], Encoder]) -> None:
        self._load = load
        self._encoder = load()

    @property
    def fingerprint(self) -> str:
        return self._encoder.fingerprint

    @property
    def width(self) -> int:
        return self._encoder.width

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return self._encoder.encode(texts)

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadedInEachProcess, (self._load,)


def store_for(encoder: Encoder, folder: Path, form: str | None = None, *, write: bool = True) -> Store:
    """Open the encoder's store in a folder; create it, by default as int8, if there is none.

    The store of another encoder is rejected, and so is one with another number format than a given `form`.
    """
    if not is_store(folder):
        return Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width, form=form or "int8")
    store = Store.open(folder, fingerprint=encoder.fingerprint, write=write)
    if form not in (None, store.header.form):
        raise CascadaError(f"{folder} holds {store.header.form}, not {form}: use another folder for another format.")
    return store


def fill(
    store: Store,
    encoder: Encoder,
    texts: Iterable[str],
    *,
    workers: int = 1,
    advance: Callable[[int], object] | None = None,
) -> int:
    """Encode every text that is not in the store; return how many there were. After a kill, call it again to resume.

    With several workers the encoder is pickled and sent to each process (see `LoadedInEachProcess`). `advance` is
    called with the number of texts that were found in the store or written to it.
    """
    _check(store, encoder, workers)
    advance = advance or (lambda _: None)
    unwritten: set[str] = set()
    batches = _missing_batches(store, texts, unwritten, advance)
    added = 0
    with closing(_encode_batches(encoder, batches, workers)) as encoded:
        for batch, encodings in encoded:
            store.put(batch, encodings)
            unwritten.difference_update(batch)
            added += len(batch)
            advance(len(batch))
    return added


def _check(store: Store, encoder: Encoder, workers: int) -> None:
    store.header.check(encoder.fingerprint, store.folder)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise CascadaError(f"workers is {workers!r}; it must be a whole number from 1.")


def _missing_batches(
    store: Store, texts: Iterable[str], unwritten: set[str], advance: Callable[[int], object]
) -> Iterator[list[str]]:
    """Batches of texts that are not in the store. `unwritten` collects texts whose batch has not been written yet."""
    remaining = iter(texts)
    while window := list(islice(remaining, WINDOW)):
        missing = [text for text in store.missing(window) if text not in unwritten]
        advance(len(window) - len(missing))
        unwritten.update(missing)
        missing.sort(key=len)
        yield from (missing[start : start + BATCH] for start in range(0, len(missing), BATCH))


def _encode_batches(
    encoder: Encoder, batches: Iterator[list[str]], workers: int
) -> Generator[EncodedBatch, None, None]:
    if workers == 1:
        return map_in_order(partial(_encode, encoder), batches, workers=1)
    try:
        packed = pickle.dumps(encoder)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise CascadaError(f"The encoder cannot be sent to other processes ({error}): use one worker.") from error
    initializer = partial(_start_worker, packed, max(1, cores() // workers))
    return map_in_order(_encode_in_worker, batches, workers=workers, initializer=initializer)


def _encode(encoder: Encoder, texts: list[str]) -> EncodedBatch:
    return texts, encoder.encode(texts)


_packed_encoder: list[bytes] = []
"""The pickled encoder of this worker process."""


def _start_worker(packed: bytes, threads: int) -> None:
    """Keep the encoder, and share the cores among the processes.

    Torch reads its number of threads when it is imported, an exported ranker when it is loaded.
    """
    for name in ("OMP_NUM_THREADS", "CASCADA_THREADS"):
        os.environ.setdefault(name, str(threads))
    _packed_encoder.append(packed)


@cache
def _worker_encoder() -> Encoder:
    """Unpickled with the first batch rather than at the start, so that its errors reach the caller as any batch's."""
    encoder: Encoder = pickle.loads(_packed_encoder[-1])
    return encoder


def _encode_in_worker(texts: list[str]) -> EncodedBatch:
    return _encode(_worker_encoder(), texts)
