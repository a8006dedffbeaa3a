"""A search engine in memory: for a few files that are not worth an index on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from cascada.data.mining.index import BM25Index
from cascada.search.passage import Passage
from cascada.search.retriever import checked_scoring
from cascada.search.tfidf import CANDIDATES, Term, TfIdf, terms


class MemoryRetriever:
    """BM25 or TF-IDF over a list of passages.

    >>> found = MemoryRetriever([Passage("Hamlet is by Shakespeare.", "plays.txt", 0, 25)])
    >>> found.retrieve("who wrote hamlet?", 80)[0].document
    'plays.txt'
    """

    def __init__(self, passages: Iterable[Passage], *, scoring: str = "bm25") -> None:
        self.passages = list(passages)
        texts = [passage.text for passage in self.passages]
        self._index = BM25Index(texts)
        self._tfidf = _tfidf(texts) if checked_scoring(scoring) == "tfidf" else None

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        if self._tfidf:
            return self._by_tfidf(self._tfidf, question, count)
        scores = self._index.scores(question)
        best = self._index.best(question, count, scores)
        return [replace(self.passages[number], score=float(scores[number])) for number in best]

    def _by_tfidf(self, tfidf: TfIdf, question: str, count: int) -> list[Passage]:
        found = [self.passages[number] for number in self._index.best(question, max(count, CANDIDATES))]
        return rescored(tfidf, question, found, count)


def rescored(tfidf: TfIdf, question: str, passages: list[Passage], count: int) -> list[Passage]:
    """The best of the passages by TF-IDF, in their old order where it says nothing."""
    scores = tfidf.scores(question, [passage.text for passage in passages])
    found = [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(found, key=lambda passage: -passage.score)[:count]


def _tfidf(texts: list[str]) -> TfIdf:
    having: Counter[Term] = Counter()
    for text in texts:
        having.update(set(terms(text)))
    return TfIdf(len(texts), lambda term: having[term])
