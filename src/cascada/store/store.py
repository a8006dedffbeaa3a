"""A store of encodings: texts in, what an encoder made of them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import lmdb
from numpy.typing import ArrayLike

from cascada.core.errors import CascadaError
from cascada.store import entry
from cascada.store.environment import Environment, environment
from cascada.store.folder import make, newest
from cascada.store.format import Floats2d, Header
from cascada.store.walk import Look, Seen, compact, walk

Source = str | PathLike[str]


class Store:
    """Token encodings of texts, on disk. Many processes and threads may read while one writes.

        store = Store.create("corpus.store", fingerprint=encoder.fingerprint, width=encoder.width)
        store.put(texts, encoder.encode(texts))
        Store.open("corpus.store", fingerprint=encoder.fingerprint).get(texts)

    After a fork, open it in the child anew.
    """

    def __init__(self, environment: Environment, *, write: bool) -> None:
        self._environment = environment
        self._write = write
        self.header = environment.header
        self.folder = environment.folder

    @classmethod
    def create(cls, folder: Source, *, fingerprint: str, width: int, form: str = "int8") -> Store:
        """A new and empty store, open for writing. It appears whole or not at all."""
        make(Path(folder), Header(fingerprint, width, form))
        return cls.open(folder, fingerprint=fingerprint, write=True)

    @classmethod
    def open(cls, folder: Source, *, fingerprint: str | None = None, write: bool = False) -> Store:
        """A store that is there. One of another model than `fingerprint` is refused; None takes any."""
        path = Path(folder)
        found = environment(path)
        found.header.check(fingerprint, path)
        return cls(environment(path, write=True) if write else found, write=write)

    def get(self, texts: Sequence[str]) -> list[Floats2d | None]:
        """Each text's encoding, (tokens, width); None for what is not there. They are views of one array."""
        keys = [entry.key(text) for text in texts]
        return self._environment.run(
            lambda transaction: entry.unpacked([transaction.get(key) for key in keys], self.header)
        )

    def put(self, texts: Sequence[str], encodings: Sequence[ArrayLike]) -> None:
        """Keep all of them, or none if anything goes wrong; what is there for a text already is replaced."""
        keys = [entry.key(text) for text in texts]
        values = [entry.packed(key, value, self.header) for key, value in zip(keys, encodings, strict=True)]

        def work(transaction: lmdb.Transaction[memoryview]) -> None:
            for key, value in zip(keys, values, strict=True):
                transaction.put(key, value)

        self._change(work)

    def remove(self, keys: Iterable[bytes]) -> None:
        """Entries by their keys, such as those that `verify` finds damaged."""
        unwanted = list(keys)

        def work(transaction: lmdb.Transaction[memoryview]) -> None:
            for key in unwanted:
                transaction.delete(key)

        self._change(work)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Those that are not there, each once, in order."""
        keys = {text: entry.key(text) for text in texts}
        return self._environment.run(
            lambda transaction: [text for text, key in keys.items() if transaction.get(key) is None]
        )

    def __contains__(self, text: str) -> bool:
        return not self.missing([text])

    def __len__(self) -> int:
        """Texts."""
        return self._environment.run(lambda transaction: transaction.stat()["entries"]) - 1  # the header is one

    def walk(self, look: Look[Seen]) -> Iterator[Seen]:
        """What `look` makes of each entry's key and value, in the order of the keys; the value must not be kept."""
        return walk(self._environment, look)

    def compact(self) -> None:
        """Write the data file anew, in order and without holes, while others read on. A kill leaves it as it was."""
        self._check_writing()
        compact(self._environment)

    @property
    def file_bytes(self) -> int:
        """What the data file takes on disk."""
        return newest(self.folder).stat().st_size

    def _change(self, work: Callable[[lmdb.Transaction[memoryview]], None]) -> None:
        self._check_writing()
        self._environment.run(work, write=True)

    def _check_writing(self) -> None:
        if not self._write:
            raise CascadaError(f"{self.folder} was opened for reading: open it with write=True.")
