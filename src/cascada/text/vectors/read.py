"""The vectors of some words, whatever file they are in."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.text.vectors import spacy_table, text_file, word2vec_binary

Floats2d = NDArray[np.float32]


Found = Iterable[tuple[str, NDArray[np.float32]]]
"""Words and their vectors, as a file has them."""


def vectors_for(words: Sequence[str], source: str | Path) -> tuple[Floats2d, NDArray[np.bool_]]:
    """Vectors (words, size), zeros for a word that the source has not, and (words,) whether it has it.

    `source` is GloVe's text file, word2vec's text or binary (`.bin`) file, any of them gzipped (`.gz`), or a folder
    with spaCy's table. Words are in lower case; one that a source knows only as a name, `Paris`, gets that vector.
    """
    path = Path(source)
    if not path.exists():
        raise CascadaError(f"There are no word vectors at {source}.")
    rank: dict[str, tuple[int, int]] = {}  # spelling → (place of the word, how good a spelling it is)
    for place, word in enumerate(words):
        for order, spelling in enumerate(spellings(word)):
            rank.setdefault(spelling, (place, order))
    try:
        return _best(_reader(path)(path, rank), rank, len(words), source)
    except (EOFError, zlib.error, OSError) as error:  # a packed file that was cut off or damaged, among others
        raise CascadaError(f"{source} cannot be read: {error}.") from error


def spellings(word: str) -> tuple[str, ...]:
    """A word in lower case as a source may have it, the best first."""
    return tuple(dict.fromkeys((word, word.capitalize(), word.upper())))


def _reader(path: Path) -> Callable[[Path, Collection[str]], Found]:
    if path.is_dir():
        return spacy_table.read
    return word2vec_binary.read if path.name.removesuffix(".gz").endswith(".bin") else text_file.read


def _best(
    found: Found, rank: dict[str, tuple[int, int]], words: int, source: str | Path
) -> tuple[Floats2d, NDArray[np.bool_]]:
    """Of each word the vector of its best spelling."""
    table: Floats2d | None = None
    order = np.full(words, len(spellings("a")) + 1)
    for spelling, vector in found:
        table = np.zeros((words, len(vector)), np.float32) if table is None else table
        place, quality = rank[spelling]
        if quality < order[place]:
            table[place], order[place] = vector, quality
    if table is None:
        raise CascadaError(f"{source} has a vector for none of the words: is it of another language or layout?")
    return table, order <= len(spellings("a"))
