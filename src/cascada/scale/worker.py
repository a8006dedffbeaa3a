"""What a worker process keeps from one task to the next: a model is loaded once."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

Loaded = TypeVar("Loaded")


def loaded(load: Callable[[], Loaded], *, cpus: float = 1) -> Loaded:
    """What `load` gives, which is called only once in a process. Engines are given the task's cores and no more."""
    os.environ["CASCADA_THREADS"] = str(max(1, int(cpus)))
    found: Loaded = _once(pickle.dumps(load))
    return found


@lru_cache(maxsize=1)
def _once(packed: bytes) -> Any:
    return pickle.loads(packed)()
