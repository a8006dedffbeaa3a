"""Hybrid retrieval: passages that share words with the question, and passages whose vector is near to its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.search.index import Index
from cascada.search.index.encodings import Encodings
from cascada.search.passage import Passage
from cascada.systems.decoupled.documents import DocumentEncoder
from cascada.systems.decoupled.engine import encoder_of
from cascada.systems.decoupled.pooled import question_vector

if TYPE_CHECKING:
    from cascada.store import Store

RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""


class HybridRetriever:
    """An index with encodings as a search engine: BM25 or TF-IDF, fused with the nearest vectors."""

    def __init__(self, index: Index, encodings: Encodings, encoder: DocumentEncoder) -> None:
        self.index = index
        self.encodings = encodings
        self.encoder = encoder

    def __len__(self) -> int:
        return len(self.index)

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        return fused([self.index.retrieve(question, count), self.nearest(question, count)], count)

    def document(self, identifier: str) -> list[Passage]:
        """The passages of the document with this id, in order; none if there is none."""
        return self.index.document(identifier)

    def nearest(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, the one with the nearest vector first."""
        vector = question_vector(self.encoder.engine, question)
        keys = self.encodings.vectors.nearest(vector, 2 * count)  # some may no longer be in the index
        return self.index.passages_with(keys)[:count]


def with_encodings(
    index: Index, ranker: Ranker, note: Callable[[str], object]
) -> tuple[Index | HybridRetriever, Store | None]:
    """The best search engine over an index, and the stored encodings that the ranker can use.

    `note` is called with the reason if the index has encodings that cannot be used.
    """
    encodings = index.encodings
    if encodings is None or not len(encodings.vectors):
        return index, None
    own = encoder_of(ranker)
    try:
        if own and own.fingerprint == encodings.header.fingerprint:
            return HybridRetriever(index, encodings, own), encodings.store
        return HybridRetriever(index, encodings, encodings.encoder()), None
    except CascadaError as error:
        note(f"The encodings of {index.folder} are not used: {error}")
        return index, None


def fused(lists: Sequence[Sequence[Passage]], count: int) -> list[Passage]:
    """The best passages by reciprocal rank fusion: a passage scores 1 / (60 + rank) in each list that has it."""
    scores: dict[tuple[str, int], float] = {}
    passages: dict[tuple[str, int], Passage] = {}
    for ranked in lists:
        for rank, passage in enumerate(ranked, 1):
            place = passage.document, passage.start
            passages.setdefault(place, passage)
            scores[place] = scores.get(place, 0.0) + 1 / (RRF + rank)
    best = sorted(scores, key=lambda place: -scores[place])[:count]
    return [replace(passages[place], score=scores[place]) for place in best]
