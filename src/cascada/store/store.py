"""A store of encodings: put in the encodings of texts, get them back by text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from cascada.core.errors import CascadaError
from cascada.store.entries import Header, key_of, pack, unpack
from cascada.store.environment import Environment, Result, Visit, environment
from cascada.store.folder import create_store, newest_data_file
from cascada.store.number_formats import Floats2d

if TYPE_CHECKING:
    from lmdb import Transaction

Source = str | PathLike[str]


class Store:
    """Token encodings of texts, on disk. Many processes and threads may read while one writes.

        store = Store.create("corpus.store", fingerprint=encoder.fingerprint, width=encoder.width)
        store.put(texts, encoder.encode(texts))
        Store.open("corpus.store", fingerprint=encoder.fingerprint).get(texts)

    After a fork, open the store again in the child process.
    """

    def __init__(self, environment: Environment, *, write: bool) -> None:
        self._environment = environment
        self._write = write
        self.header = environment.header
        self.folder = environment.folder

    @classmethod
    def create(cls, folder: Source, *, fingerprint: str, width: int, form: str = "int8") -> Store:
        """Create an empty store and open it for writing. It appears whole or not at all."""
        create_store(Path(folder), Header(fingerprint, width, form))
        return cls.open(folder, fingerprint=fingerprint, write=True)

    @classmethod
    def open(cls, folder: Source, *, fingerprint: str | None = None, write: bool = False) -> Store:
        """Open an existing store. With a `fingerprint`, the store of another encoder is rejected."""
        path = Path(folder)
        opened = environment(path)
        opened.header.check(fingerprint, path)
        return cls(environment(path, write=True) if write else opened, write=write)

    def get(self, texts: Sequence[str]) -> list[Floats2d | None]:
        """The encoding of each text, (tokens, width), or None if it is not there. All are views of one array."""
        keys = [key_of(text) for text in texts]
        return self._environment.run(lambda transaction: unpack([transaction.get(key) for key in keys], self.header))

    def put(self, texts: Sequence[str], encodings: Sequence[ArrayLike]) -> None:
        """Write all encodings, or none if anything goes wrong. Existing entries are replaced."""
        keys = [key_of(text) for text in texts]
        values = [pack(key, encoding, self.header) for key, encoding in zip(keys, encodings, strict=True)]

        def work(transaction: Transaction[memoryview]) -> None:
            for key, value in zip(keys, values, strict=True):
                transaction.put(key, value)

        self._change(work)

    def remove(self, keys: Iterable[bytes]) -> None:
        """Remove entries by key, such as those that `damaged_keys` finds."""
        unwanted = list(keys)

        def work(transaction: Transaction[memoryview]) -> None:
            for key in unwanted:
                transaction.delete(key)

        self._change(work)

    def missing(self, texts: Iterable[str]) -> list[str]:
        """The distinct texts that are not in the store, in order."""
        keys = {text: key_of(text) for text in texts}
        return self._environment.run(
            lambda transaction: [text for text, key in keys.items() if transaction.get(key) is None]
        )

    def __contains__(self, text: str) -> bool:
        return not self.missing([text])

    def __len__(self) -> int:
        """The number of texts."""
        return self._environment.run(lambda transaction: transaction.stat()["entries"]) - 1  # without the header

    def walk(self, visit: Visit[Result]) -> Iterator[Result]:
        """Yield what `visit` returns for each entry's key and value, in key order. `visit` must not keep the value."""
        return self._environment.walk(visit)

    def compact(self) -> None:
        """Rewrite the data file without free pages, while others read on. A kill leaves the store as it was."""
        self._check_writable()
        self._environment.compact()

    @property
    def file_bytes(self) -> int:
        """The size of the data file."""
        return newest_data_file(self.folder).stat().st_size

    def _change(self, work: Callable[[Transaction[memoryview]], None]) -> None:
        self._check_writable()
        self._environment.run(work, write=True)

    def _check_writable(self) -> None:
        if not self._write:
            raise CascadaError(f"{self.folder} was opened for reading: open it with write=True.")
