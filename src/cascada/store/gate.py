"""A lock that many may hold together, or one alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Gate:
    """Whoever wants to be alone waits for those inside, and nobody enters meanwhile. A thread enters once at a time."""

    def __init__(self) -> None:
        self._turn = Condition()
        self._inside = 0
        self._alone = 0
        """How many are alone or want to be."""

    @contextmanager
    def together(self) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._turn:
                self._inside -= 1
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._turn:
            self._alone += 1
            try:
                self._turn.wait_for(lambda: not self._inside)
                yield  # with the condition held: the next one who wants to be alone waits for it
            finally:
                self._alone -= 1
                self._turn.notify_all()
