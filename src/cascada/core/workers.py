"""A parallel `map` over a long stream: several processes, results in order, constant memory."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

from cascada.core.errors import CascadaError

AHEAD = 4
"""Items per worker that are submitted before the oldest result is taken."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int,
    initializer: Callable[[], object] | None = None,
) -> Generator[Result, None, None]:
    """`map(function, items)`, computed by `workers` processes; with 1, in this process.

    `function` must be defined at the top level of a module, because the worker processes import it. Each worker calls
    `initializer` once, before its first item.
    """
    if workers == 1:
        if initializer:
            initializer()
        yield from map(function, items)
        return
    # Spawned, not forked: a fork would copy the progress bar's thread in whatever state it is in.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_set_up, initargs=(initializer,))
    try:
        yield from _results(pool, function, items, workers * AHEAD)
    except BrokenProcessPool as error:
        raise CascadaError(
            "A worker process ended unexpectedly, perhaps because memory ran out; try fewer workers (--workers 1)."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _results(
    pool: ProcessPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item], most: int
) -> Iterator[Result]:
    pending: deque[Future[Result]] = deque()
    for item in items:
        pending.append(pool.submit(function, item))
        if len(pending) >= most:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _set_up(initializer: Callable[[], object] | None) -> None:
    """Leave Ctrl-C to the parent, and exit when it exits, even if killed: a worker would wait for work forever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_with_parent, daemon=True).start()
    if initializer:
        initializer()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)
