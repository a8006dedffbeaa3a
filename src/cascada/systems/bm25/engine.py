"""Load BM25 as a ranker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cascada.core.errors import CascadaError
from cascada.ranking.ranker import Ranker
from cascada.systems.bm25.stages import BM25Stage, Collection
from cascada.text.words import words


def load(system: str, argument: str = "", texts: Iterable[str] | None = None) -> Ranker:
    """Make a BM25 ranker, whose name is `system`.

    IDF and average length come from `texts`, or else from each question's own candidates.
    """
    if argument:
        raise CascadaError(f"bm25:{argument} is not a ranker: bm25 takes no argument.")
    collection = None if texts is None else Collection.of(Counter(words(text)) for text in texts)
    return Ranker([BM25Stage(collection)])
