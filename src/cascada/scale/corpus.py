"""The texts of a corpus, by path or URL: what can be read separately, and how a worker reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cascada.data import read
from cascada.scale.files import absolute, exists, files_of, local_copy
from cascada.search.candidates import CANDIDATES, check_units, texts_in
from cascada.search.files import file_passages, find_files
from cascada.search.formats import READERS

_URL = re.compile(r"(?:(\w+):)?(\w+://.+)")
"""A URL, perhaps with the name of a data set's layout before it: `wikiqa:s3://bucket/test.tsv`."""


@dataclass(frozen=True)
class Corpus:
    """Which texts are read from files: the options of `cascada encode`."""

    units: str = "sentences"
    language: str = "en"
    root: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        check_units(self.units, data_set=bool(self.root or self.split))

    def sources(self, named: list[str]) -> list[str]:
        """The files or data sets that some names stand for, each of which can be read separately."""
        if self.units == CANDIDATES:
            return list(dict.fromkeys(map(absolute_source, named)))
        return files_of(named, lambda path: map(str, find_files([path])), READERS)

    def texts(self, source: str) -> Iterable[str]:
        """The texts of one source, perhaps with repetitions. A file is read whole or not at all."""
        if self.units == CANDIDATES:
            return self._candidates(source)
        with local_copy(source) as path:
            passages = list(file_passages(path))
        return texts_in(passages, self.units, self.language)

    def _candidates(self, source: str) -> Iterator[str]:
        with local_source(source) as name:
            for group in read(name, root=self.root, split=self.split):
                yield from group.texts


def absolute_source(source: str) -> str:
    """A data set's name with an absolute path, which means the same in every folder."""
    layout, colon, path = source.rpartition(":")
    if _URL.fullmatch(source):
        return source
    return f"{layout}{colon}{absolute(path)}" if path and exists(path) else source


@contextmanager
def local_source(source: str) -> Iterator[str]:
    """Yield a data set's name with a local path instead of a URL."""
    match = _URL.fullmatch(source)
    if not match:
        yield source
        return
    layout, url = match.groups()
    with local_copy(url) as path:
        yield f"{layout}:{path}" if layout else str(path)
