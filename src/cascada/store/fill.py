"""Many texts into a store: encoded in several processes, written by this one, and never twice."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import cache, partial
from itertools import islice

from cascada.doctor import cores
from cascada.errors import CascadaError
from cascada.store.encoder import Encoder
from cascada.store.forms import Floats2d
from cascada.store.store import Store
from cascada.workers import in_order

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
