"""Retrieval of passages: the protocol that any search engine can implement, and a search engine in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, Protocol, get_args

from cascada.core.errors import CascadaError
from cascada.search.passage import Passage, document_id
from cascada.search.tfidf import RESCORED, TfIdf
from cascada.text.bm25 import BM25Index

Scoring = Literal["bm25", "tfidf"]


class Retriever(Protocol):
    """A search engine. To use your own, implement this one method:

        class Mine:
            def retrieve(self, question: str, count: int) -> list[Passage]:
                return [Passage(hit.text, hit.name, hit.start, hit.end, hit.score) for hit in ask_mine(question, count)]

    `start` and `end` of a passage are character offsets into its document.
    """

    def retrieve(self, question: str, count: int) -> Sequence[Passage]:
        """At most `count` passages, best first; none if nothing matches."""
        ...


class MemoryRetriever:
    """BM25 or TF-IDF over a list of passages.

    >>> retriever = MemoryRetriever([Passage("Hamlet is by Shakespeare.", "plays.txt", 0, 25)])
    >>> retriever.retrieve("who wrote hamlet?", 80)[0].document
    'plays.txt'
    """

    def __init__(self, passages: Iterable[Passage], *, scoring: str = "bm25") -> None:
        self.passages = list(passages)
        texts = [passage.text for passage in self.passages]
        self._index = BM25Index(texts)
        self._tfidf = TfIdf.of(texts) if checked_scoring(scoring) == "tfidf" else None

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        if self._tfidf:
            best = [self.passages[number] for number in self._index.best(question, max(count, RESCORED))]
            return self._tfidf.best(question, best, count)
        scores = self._index.scores(question)
        numbers = self._index.best(question, count, scores)
        return [replace(self.passages[number], score=float(scores[number])) for number in numbers]

    def document(self, identifier: str) -> list[Passage]:
        """The passages of the document with this id (`Answer.document_id`), in order; none if there is none."""
        own = [passage for passage in self.passages if document_id(passage.document) == identifier]
        return sorted(own, key=lambda passage: passage.start)


def checked_scoring(scoring: str) -> Scoring:
    """Return `scoring`, or raise an error that lists the names there are."""
    if scoring not in get_args(Scoring):
        raise CascadaError(f"The scoring is {scoring!r}; it must be bm25 or tfidf.")
    return scoring  # type: ignore[return-value]
