"""An index on disk, as a search engine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import tantivy

from cascada.search.documents import Report, Source, Watch, warn
from cascada.search.index import layout
from cascada.search.index.layout import FileRecord
from cascada.search.index.update import Update, forget, update
from cascada.search.passages import Passage
from cascada.search.retrievers import CANDIDATES, Term, TfIdf, checked_scoring, rescored
from cascada.text.words import words

Query = tantivy.Query


class Index:
    """Passages of files in a folder of its own. Safe to ask from many threads and processes, while one changes it.

        index = Index("corpus.index", create=True)
        index.update(["documents/"])
        index.retrieve("who wrote hamlet?", 80)

    `scoring` is tantivy's BM25, or TF-IDF (see `cascada.search.tfidf`) over the thousand passages that BM25 finds.
    """

    def __init__(self, folder: Source, *, create: bool = False, scoring: str = "bm25") -> None:
        self.folder = Path(folder)
        self.scoring = checked_scoring(scoring)
        if create:
            layout.make(self.folder)
        self.engine = layout.opened(self.folder)
        self.schema = layout.schema()

    def __len__(self) -> int:
        """Passages."""
        return int(self.engine.searcher().num_docs)

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        searcher = self.engine.searcher()
        if self.scoring == "bm25":
            return self._best(searcher, question, count)
        found = self._best(searcher, question, max(count, CANDIDATES))
        tfidf = TfIdf(searcher.num_docs, lambda term: self._having(searcher, term))
        return rescored(tfidf, question, found, count)

    def update(self, paths: Iterable[Source], *, report: Report = warn, watch: Watch = iter) -> Update:
        """Read what is new or changed under these files and folders, and forget what is no longer there."""
        return update(self, paths, report, watch)

    def forget(self, paths: Iterable[Source]) -> int:
        """Take the files at or under these paths out, whether they still exist or not. How many there were."""
        return forget(self, paths)

    def files(self) -> dict[str, FileRecord]:
        """What is in the index, by absolute path."""
        searcher = self.engine.searcher()
        query = Query.term_query(self.schema, "last", 1)
        hits = searcher.search(query, max(_count(searcher, query), 1)).hits
        found = (json.loads(bytes(searcher.doc(place).get_first("record"))) for _, place in hits)  # type: ignore[arg-type]
        return {record["path"]: FileRecord(**record) for record in found}

    def _best(self, searcher: tantivy.Searcher, question: str, count: int) -> list[Passage]:
        queries = [Query.term_query(self.schema, "words", word) for word in dict.fromkeys(words(question))]
        either = Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
        hits = searcher.search(either, count, count=False).hits
        return [layout.passage_of(searcher.doc(place), score) for score, place in hits]

    def _having(self, searcher: tantivy.Searcher, term: Term) -> int:
        """How many passages have a word, or two words in a row; tantivy's own count includes forgotten ones."""
        if len(term) == 1:
            return _count(searcher, Query.term_query(self.schema, "words", term[0]))
        return _count(searcher, Query.phrase_query(self.schema, "words", list(term)))


def _count(searcher: tantivy.Searcher, query: tantivy.Query) -> int:
    return int(searcher.search(query, 1).count)  # type: ignore[attr-defined]
