"""What is in a source of texts, as a worker reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cascada.data import read
from cascada.scale.files import absolute, exists, files_of, here
from cascada.search.documents import CANDIDATES, check_units, file_passages, find_files, texts_in
from cascada.search.formats import READERS

_NAMED = re.compile(r"(?:(\w+):)?(\w+://.+)")
"""A URL, perhaps with the name of its layout in front: `wikiqa:s3://bucket/test.tsv`."""


@dataclass(frozen=True)
class Corpus:
    """How texts are found in files: `cascada encode`'s options."""

    units: str = "sentences"
    language: str = "en"
    root: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        check_units(self.units, data_set=bool(self.root or self.split))

    def sources(self, named: list[str]) -> list[str]:
        """What can be read apart from the rest: files, or data sets."""
        if self.units == CANDIDATES:
            return list(dict.fromkeys(map(everywhere, named)))
        return files_of(named, lambda path: map(str, find_files([path])), READERS)

    def texts(self, source: str) -> Iterable[str]:
        """The texts of one source; some may come more than once. A file is read whole or not at all."""
        if self.units == CANDIDATES:
            return self._candidates(source)
        with here(source) as path:
            passages = list(file_passages(path))
        return texts_in(passages, self.units, self.language)

    def _candidates(self, source: str) -> Iterator[str]:
        with data_here(source) as found:
            for group in read(found, root=self.root, split=self.split):
                yield from group.texts


def everywhere(source: str) -> str:
    """A data set's name that means the same in every folder."""
    name, colon, path = source.rpartition(":")
    if _NAMED.fullmatch(source):
        return source
    return f"{name}{colon}{absolute(path)}" if path and exists(path) else source


@contextmanager
def data_here(source: str) -> Iterator[str]:
    """A data set's name with its file, if it is given by URL, as one of this machine."""
    found = _NAMED.fullmatch(source)
    if not found:
        yield source
        return
    with here(found[2]) as path:
        yield f"{found[1]}:{path}" if found[1] else str(path)
