"""Cascada picks the answer out of hundreds of candidate sentences, in a fraction of the compute."""

import os
from typing import TYPE_CHECKING, Any

# ONNX Runtime keeps a device id and a queue of usage events in the user's cache, unless told not to before it loads.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import cascada.systems  # noqa: F401  (provides Ranker.load)
from cascada.core.errors import CascadaError
from cascada.ranking import Item, Ranker, Ranking

if TYPE_CHECKING:
    from cascada.api import accelerate, ask, evaluate, export, train, tune

__version__ = "0.1.0"
__all__ = ["CascadaError", "Item", "Ranker", "Ranking", "accelerate", "ask", "evaluate", "export", "train", "tune"]

_API = ("accelerate", "ask", "evaluate", "export", "train", "tune")


def __getattr__(name: str) -> Any:
    """Import the functions of `cascada.api` when they are first used, to keep `import cascada` fast."""
    if name not in _API:
        raise AttributeError(f"module 'cascada' has no attribute {name!r}")
    from cascada import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_API})
