"""What a worker process keeps from one task to the next: a model is loaded once."""

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
from cascada.scale.files import absolute, here
from cascada.systems.load import names_in

if TYPE_CHECKING:
    from cascada.store import Encoder
Loaded = TypeVar("Loaded")


def loaded(load: Callable[[], Loaded], *, cpus: float = 1) -> Loaded:
    """What `load` gives, which is called only once in a process. Engines are given the task's cores and no more."""
    os.environ["CASCADA_THREADS"] = str(max(1, int(cpus)))
    found: Loaded = _once(pickle.dumps(load))
    return found


@lru_cache(maxsize=1)
def _once(packed: bytes) -> Any:
    return pickle.loads(packed)()


def anywhere(model: str) -> str:
    """A model's name that means the same on every machine that has its files: paths are made absolute."""
    return "+".join(map(_anywhere, names_in(model)))


def load_ranker(model: str, store: str | None = None) -> Ranker:
    """`Ranker.load`, also for folders by URL, `store` among them."""
    names = "+".join(map(_here, names_in(model)))
    return Ranker.load(names, store=_here(store) if store else None)


def load_encoder(model: str) -> Encoder:
    """The documents' side of a ranker."""
    from cascada.systems.decoupled.engine import document_encoder

    return document_encoder(_here(model))


def _anywhere(name: str) -> str:
    kind, colon, folder = name.rpartition("cosine:")
    return f"{kind}{colon}{absolute(folder)}" if Path(folder).exists() else name


def _here(name: str) -> str:
    kind, colon, folder = name.rpartition("cosine:")
    return f"{kind}{colon}{_fetched(folder)}" if "://" in folder else name


@cache
def _fetched(url: str) -> Path:
    """A copy for as long as the process lives."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(here(url))
