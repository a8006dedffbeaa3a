"""BM25 as a ranker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cascada.core.errors import CascadaError
from cascada.ranking.ranker import Ranker
from cascada.systems.bm25.stages import Background, BM25Stage
from cascada.text.words import words


def load(argument: str = "", texts: Iterable[str] | None = None) -> Ranker:
    """BM25 as a ranker. IDF and average length come from `texts`, or else from each question's own candidates."""
    if argument:
        raise CascadaError(f"bm25:{argument} is not a ranker: bm25 stands alone.")
    background = None if texts is None else Background.of(Counter(words(text)) for text in texts)
    return Ranker([BM25Stage(background)])
