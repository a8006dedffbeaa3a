"""One function over a long stream, in several processes, in order and in constant memory."""

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
"""Items per worker that are read before the oldest result is taken."""


Item = TypeVar("Item")


Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int,
    start: Callable[[], object] | None = None,
) -> Generator[Result, None, None]:
    """`map`, with the work done by so many processes (1: this one).

    `function` stands at the top of a module, since the processes import it. Each process calls `start` before all else.
    """
    if workers == 1:
        if start:
            start()
        yield from map(function, items)
        return
    # Processes that are spawned, not forked: a fork would copy the progress bar's thread in whatever state it is in.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(start,))
    try:
        yield from _through(pool, function, items, workers * AHEAD)
    except BrokenProcessPool as error:
        raise CascadaError(
            "A worker process ended by itself, perhaps for want of memory; try fewer of them (--workers 1)."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _through(
    pool: ProcessPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item], most: int
) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _begin(start: Callable[[], object] | None) -> None:
    _stay_with_the_parent()
    if start:
        start()


def _stay_with_the_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it ends, even killed: a worker would wait for work forever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)
