"""What fills a store: the part of a ranker that reads documents without having seen the question."""

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
from cascada.core.workers import in_order
from cascada.store.folder import is_store
from cascada.store.format import Floats2d
from cascada.store.store import Store


class Encoder(Protocol):
    """Turns texts into token encodings."""

    @property
    def fingerprint(self) -> str:
        """Of the weights and of everything else that changes an encoding: a store holds those of one fingerprint."""

    @property
    def width(self) -> int:
        """Numbers per token."""

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """One array of (tokens, width) for each text, in order."""


class LoadedInEachProcess:
    """An encoder that travels to another process as the function that loads it, not with its weights.

    `load` can be pickled, such as `functools.partial(document_encoder, "runs/dc-bert")`.
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
    """The store in the folder, made if it is not there: of int8, or of the `form` that is named.

    One that another encoder made, or that is of another form than the one named, is refused.
    """
    if not is_store(folder):
        return Store.create(folder, fingerprint=encoder.fingerprint, width=encoder.width, form=form or "int8")
    store = Store.open(folder, fingerprint=encoder.fingerprint, write=write)
    if form not in (None, store.header.form):
        raise CascadaError(f"{folder} holds {store.header.form}, not {form}: give another form a store of its own.")
    return store


AT_ONCE = 32
"""Texts that are encoded together and written in one transaction: what a kill can cost, for each worker."""


WINDOW = 2048
"""Texts that are looked up at once, and sorted by length so that those encoded together are padded little."""


Encoded = tuple[list[str], list[Floats2d]]


def fill(
    store: Store,
    encoder: Encoder,
    texts: Iterable[str],
    *,
    workers: int = 1,
    advance: Callable[[int], object] | None = None,
) -> int:
    """Encode every text that is not there yet; how many those were. Killed at any moment, it goes on when called again.

    With several workers the encoder is pickled and sent to each process (see `LoadedInEachProcess`). `advance` hears
    of texts as they are found in the store or written to it.
    """
    _check(store, encoder, workers)
    heard = advance or (lambda _: None)
    waiting: set[str] = set()
    jobs = _jobs(store, texts, waiting, heard)
    with closing(_through(encoder, jobs, workers)) as encoded:
        added = 0
        for done, encodings in encoded:
            store.put(done, encodings)
            waiting.difference_update(done)
            added += len(done)
            heard(len(done))
    return added


def _check(store: Store, encoder: Encoder, workers: int) -> None:
    store.header.check(encoder.fingerprint, store.folder)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise CascadaError(f"workers is {workers!r}; it must be a whole number from 1.")


def _jobs(store: Store, texts: Iterable[str], waiting: set[str], heard: Callable[[int], object]) -> Iterator[list[str]]:
    """Texts to encode together; not those that are `waiting` to be written."""
    rest = iter(texts)
    while window := list(islice(rest, WINDOW)):
        missing = [text for text in store.missing(window) if text not in waiting]
        heard(len(window) - len(missing))
        waiting.update(missing)
        missing.sort(key=len)
        yield from (missing[start : start + AT_ONCE] for start in range(0, len(missing), AT_ONCE))


def _through(encoder: Encoder, jobs: Iterator[list[str]], workers: int) -> Generator[Encoded, None, None]:
    if workers == 1:
        return in_order(partial(_encoded, encoder), jobs, workers=1)
    try:
        packed = pickle.dumps(encoder)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise CascadaError(f"The encoder cannot go to other processes ({error}): use one worker.") from error
    start = partial(_start, packed, max(1, cores() // workers))
    return in_order(_encoded_here, jobs, workers=workers, start=start)


def _encoded(encoder: Encoder, texts: list[str]) -> Encoded:
    return texts, encoder.encode(texts)


_here: list[bytes] = []
"""The encoder of this worker process, as it came."""


def _start(packed: bytes, threads: int) -> None:
    """The processes share the processor's cores; torch reads how many are its own when it is imported, an exported
    ranker when it is loaded."""
    for name in ("OMP_NUM_THREADS", "CASCADA_THREADS"):
        os.environ.setdefault(name, str(threads))
    _here.append(packed)


@cache
def _encoder_here() -> Encoder:
    """Unpacked with the first texts, so that what goes wrong is told as of any text."""
    found: Encoder = pickle.loads(_here[-1])
    return found


def _encoded_here(texts: list[str]) -> Encoded:
    return _encoded(_encoder_here(), texts)
