"""A connection to a Ray cluster, for as long as a command needs it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError

from cascada.core.errors import CascadaError, first_line


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """Work on the cluster at `address` (`auto`: this machine's, `HOST:PORT`), or else at RAY_ADDRESS.

    Without either, a cluster of this machine's cores is started, and ends with the work. A connection that is there
    already is used, and stays.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anyone unless the user says so
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    own = {"include_dashboard": False} if where == "local" else {}
    try:
        ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise CascadaError(f"There is no Ray cluster to work on at {where}: {first_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


RETRIES = 3
"""How often an item is given to another worker when one dies over it. More would hide an item that kills them all."""


AHEAD = 2
"""Items for each core of the cluster that are sent before their turn, so that no worker waits for the next."""


Item = TypeVar("Item")


Result = TypeVar("Result")


def each(work: Callable[[Item], Result], items: Iterable[Item], *, cpus: float = 1) -> Iterator[Result]:
    """What `work` makes of each item, as it is finished: in no certain order.

    `work` and the items travel to other processes by pickle. Few items are sent ahead, so that the input may be larger
    than any memory.
    """
    waiting: list[Any] = []
    sent = ray.put(work)
    task = _call.options(num_cpus=cpus, max_retries=RETRIES)
    try:
        with told():
            for item in items:
                waiting.append(task.remote(sent, item))
                if len(waiting) >= _room(cpus):
                    done, waiting = ray.wait(waiting)
                    yield from ray.get(done)
            while waiting:
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
    finally:
        for one in waiting:
            ray.cancel(one)


@contextmanager
def told() -> Iterator[None]:
    """What went wrong in a worker, as it would be told here."""
    try:
        yield
    except RayError as error:
        cause = _cause(error)
        if cause is not None:
            raise cause from error
        raise CascadaError(
            f"The cluster gave up on a part of the work ({type(error).__name__}: {first_line(error)}); "
            "what was finished stays, and the same command goes on from there."
        ) from error


def _cause(error: BaseException) -> CascadaError | None:
    """The sentence inside of what Ray wraps around it."""
    seen: BaseException | None = error
    while seen is not None:
        inner = getattr(seen, "cause", None)
        if isinstance(inner, CascadaError) and not isinstance(inner, RayError):
            return inner
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
        if isinstance(seen, CascadaError) and not isinstance(seen, RayError):
            return seen
    return None


def _room(cpus: float) -> int:
    cores = ray.cluster_resources().get("CPU", 1)
    return int(AHEAD * max(cores / max(cpus, 1), 1))


@ray.remote  # type: ignore[untyped-decorator, unused-ignore]
def _call(work: Callable[[Item], Result], item: Item) -> Result:
    return work(item)
