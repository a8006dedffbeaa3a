"""Look up the vectors of some words in a file of any supported format."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError, described
from cascada.text.vectors import files, spacy_table

Floats2d = NDArray[np.float32]
Entries = Iterable[tuple[str, NDArray[np.float32]]]
"""Words, as a file spells them, and their vectors."""


def vectors_for(words: Sequence[str], source: str | Path) -> tuple[Floats2d, NDArray[np.bool_]]:
    """Vectors (words, size), and (words,) whether the source has the word. A word that it lacks gets zeros.

    `source` is GloVe's text file, word2vec's text or binary (`.bin`) file, any of them gzipped (`.gz`), or a folder
    with spaCy's table. `words` are in lower case; a word that the source has only capitalised or in capitals, such as
    `Paris`, gets that vector.
    """
    path = Path(source)
    if not path.exists():
        raise CascadaError(f"There are no word vectors at {source}.")
    wanted: dict[str, tuple[int, int]] = {}  # spelling → (index of the word, preference: 0 is the best spelling)
    for index, word in enumerate(words):
        for preference, spelling in enumerate(spellings(word)):
            wanted.setdefault(spelling, (index, preference))
    try:
        return _best(_reader(path)(path, wanted), wanted, len(words), source)
    except (EOFError, zlib.error, OSError) as error:  # for example a gzip file that is truncated or damaged
        raise CascadaError(f"{source} cannot be read: {described(error)}.") from error


def spellings(word: str) -> tuple[str, ...]:
    """Spellings under which a source may have a lower-case word, the best first."""
    return tuple(dict.fromkeys((word, word.capitalize(), word.upper())))


def _reader(path: Path) -> Callable[[Path, Collection[str]], Entries]:
    if path.is_dir():
        return spacy_table.read
    return files.read_binary if path.name.removesuffix(".gz").endswith(".bin") else files.read_text


def _best(
    entries: Entries, wanted: dict[str, tuple[int, int]], words: int, source: str | Path
) -> tuple[Floats2d, NDArray[np.bool_]]:
    """For each word, the vector of its best spelling."""
    table: Floats2d | None = None
    best = np.full(words, np.iinfo(np.int64).max)  # preference of the spelling whose vector is in the table
    for spelling, vector in entries:
        table = np.zeros((words, len(vector)), np.float32) if table is None else table
        index, preference = wanted[spelling]
        if preference < best[index]:
            table[index], best[index] = vector, preference
    if table is None:
        raise CascadaError(f"{source} has vectors for none of the words: is it of another language or format?")
    return table, best < np.iinfo(np.int64).max
