"""Models on a cluster: named so that every machine finds them, fetched by URL, loaded once per worker process."""

from __future__ import annotations

import atexit
import os
import pickle
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cascada.ranking import Ranker
from cascada.scale.files import absolute, local_copy
from cascada.systems.load import folder_of, names_in
from cascada.systems.registry import split_encoder

if TYPE_CHECKING:
    from cascada.store import Encoder

Model = TypeVar("Model")


def absolute_name(model: str) -> str:
    """A model's name with absolute paths, which means the same in every folder."""
    return "+".join(map(_absolute_name, names_in(model)))


def load_ranker(model: str, store: str | None = None) -> Ranker:
    """`Ranker.load`, also for a model or store given by URL."""
    name = "+".join(map(_local_name, names_in(model)))
    return Ranker.load(name, store=_local_name(store) if store else None)


def load_encoder(model: str) -> Encoder:
    """The document encoder of a decoupled ranker, by path or URL."""
    from cascada.systems.decoupled.engine import document_encoder

    return document_encoder(folder_of(_local_name(model)))


def load_once(load: Callable[[], Model], *, cpus: float = 1) -> Model:
    """Return `load()`, which is called once per process. Engines use as many threads as the task has cores."""
    os.environ["CASCADA_THREADS"] = str(max(1, int(cpus)))
    model: Model = _call_once(pickle.dumps(load))
    return model


@lru_cache(maxsize=1)
def _call_once(pickled: bytes) -> Any:
    return pickle.loads(pickled)()


def _absolute_name(name: str) -> str:
    prefix, folder = split_encoder(name)
    return f"{prefix}{absolute(folder)}" if Path(folder).exists() else name


def _local_name(name: str) -> str:
    prefix, folder = split_encoder(name)
    return f"{prefix}{_fetched(folder)}" if "://" in folder else name


@cache
def _fetched(url: str) -> Path:
    """A local copy that is kept until the process ends."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(local_copy(url))
