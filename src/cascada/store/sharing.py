"""One environment for each folder in a process: LMDB allows no more, and what several stores share is closed last."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from cascada.errors import CascadaError
from cascada.store.environment import Environment

_shared: WeakValueDictionary[Path, Environment] = WeakValueDictionary()
_sharing = Lock()


def environment(folder: Path, *, write: bool = False) -> Environment:
    """The one of this folder in this process."""
    with _sharing:
        path = folder.resolve()
        found = _usable(path)
        if found is None:
            found = _shared[path] = Environment(folder)
        if write:
            found.make_writable()
        return found


def _usable(path: Path) -> Environment | None:
    """None, too, if another store has come to stand there."""
    found = _shared.get(path)
    try:
        if found:
            found.follow()
    except CascadaError:
        return None
    return found
