"""A connection to a Ray cluster, for as long as a command needs it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import ray

from cascada.errors import CascadaError, first_line


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
