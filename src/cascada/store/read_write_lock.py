"""A readers-writer lock for the threads of a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class ReadWriteLock:
    """Many threads may hold it shared, or one exclusively; those that wait for it exclusively have priority. It is not
    reentrant."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._shared = 0
        """Threads that hold the lock shared."""
        self._exclusive = 0
        """Threads that hold the lock exclusively, or wait to."""

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive)
            self._shared += 1
        try:
            yield
        finally:
            with self._changed:
                self._shared -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._changed:
            self._exclusive += 1
            try:
                self._changed.wait_for(lambda: not self._shared)
                yield  # while the condition's own lock is held, which keeps other exclusive holders out
            finally:
                self._exclusive -= 1
                self._changed.notify_all()
