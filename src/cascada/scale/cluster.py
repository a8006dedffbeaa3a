"""A Ray cluster: connect to it, map a function over it, and report what went wrong in a worker."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError

from cascada.core.errors import CascadaError, first_line

RETRIES = 3
"""How often an item is given to another worker after its worker died. More would hide an item that kills them all."""

AHEAD = 2
"""Items per core of the cluster that are submitted at a time, so that no worker waits for its next item."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def connected(address: str | None = None) -> Iterator[None]:
    """Connect to the cluster at `address` (`HOST:PORT`, or `auto` for this machine's), or at RAY_ADDRESS.

    Without either, a cluster of this machine's cores is started, and stopped afterwards. An existing connection is used
    and kept open.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage reports, unless the user wants them
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    local_options = {"include_dashboard": False} if where == "local" else {}
    try:
        ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR, **local_options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise CascadaError(f"There is no Ray cluster at {where}: {first_line(error)}") from error
    try:
        yield
    finally:
        ray.shutdown()


def map_unordered(work: Callable[[Item], Result], items: Iterable[Item], *, cpus: float = 1) -> Iterator[Result]:
    """Yield `work(item)` for each item, computed on the cluster, as soon as it is finished.

    `work` and the items are pickled. Only a few items are submitted at a time, so the input may be larger than memory.
    """
    pending: list[Any] = []
    shared_work = ray.put(work)
    task = _call.options(num_cpus=cpus, max_retries=RETRIES)
    try:
        with worker_errors_as_sentences():
            for item in items:
                pending.append(task.remote(shared_work, item))
                if len(pending) >= _max_pending(cpus):
                    finished, pending = ray.wait(pending)
                    yield from ray.get(finished)
            while pending:
                finished, pending = ray.wait(pending)
                yield from ray.get(finished)
    finally:
        for reference in pending:
            ray.cancel(reference)


@contextmanager
def worker_errors_as_sentences() -> Iterator[None]:
    """Raise a CascadaError of a worker here as it is, and any other error of Ray as a CascadaError."""
    try:
        yield
    except RayError as error:
        cause = _cascada_error_in(error)
        if cause is not None:
            raise cause from error
        raise CascadaError(
            f"The cluster gave up on a part of the work ({type(error).__name__}: {first_line(error)}). "
            "Finished parts are kept: run the same command again to resume."
        ) from error


def _cascada_error_in(error: BaseException) -> CascadaError | None:
    """The CascadaError that Ray has wrapped in its own errors, if there is one."""
    current: BaseException | None = error
    while current is not None:
        inner = getattr(current, "cause", None)
        if isinstance(inner, CascadaError) and not isinstance(inner, RayError):
            return inner
        current = inner if isinstance(inner, BaseException) else current.__cause__
        if isinstance(current, CascadaError) and not isinstance(current, RayError):
            return current
    return None


def _max_pending(cpus: float) -> int:
    cores = ray.cluster_resources().get("CPU", 1)
    return int(AHEAD * max(cores / max(cpus, 1), 1))


@ray.remote  # type: ignore[untyped-decorator, unused-ignore]
def _call(work: Callable[[Item], Result], item: Item) -> Result:
    return work(item)
