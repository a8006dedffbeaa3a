"""The index as a search engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import tantivy

from cascada.search.files import Report, Source, Watch
from cascada.search.index import layout
from cascada.search.index.layout import FileRecord
from cascada.search.index.update import Update, forget, update
from cascada.search.passage import Passage
from cascada.search.retrievers import checked_scoring
from cascada.search.tfidf import RESCORED, Term, TfIdf
from cascada.text.words import words

Query = tantivy.Query


class Index:
    """Passages of files, in a folder of their own. Many threads and processes may search it while one updates it.

        index = Index("corpus.index", create=True)
        index.update(["documents/"])
        index.retrieve("who wrote hamlet?", 80)

    `scoring` is `bm25`, computed by tantivy, or `tfidf`, computed here for the thousand best passages by BM25.
    """

    def __init__(self, folder: Source, *, create: bool = False, scoring: str = "bm25") -> None:
        self.folder = Path(folder)
        self.scoring = checked_scoring(scoring)
        if create:
            layout.create_index(self.folder)
        self.engine = layout.open_index(self.folder)
        self.schema = layout.schema()

    def __len__(self) -> int:
        """The number of passages."""
        return int(self.engine.searcher().num_docs)

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        searcher = self.engine.searcher()
        if self.scoring == "bm25":
            return self._best(searcher, question, count)
        best = self._best(searcher, question, max(count, RESCORED))
        tfidf = TfIdf(searcher.num_docs, lambda term: self._document_frequency(searcher, term))
        return tfidf.best(question, best, count)

    def update(
        self,
        paths: Iterable[Source],
        *,
        files: Sequence[Path] | None = None,
        report: Report | None = None,
        watch: Watch = iter,
    ) -> Update:
        """Read new and changed files under these paths, and remove from the index those that no longer exist.

        `files`: what `find_files(paths)` found, if it was called before. `report` is called with the problem of each
        file that is skipped; the default is a Python warning. `watch` wraps the list of files to show progress.
        """
        return update(self, paths, files, report, watch)

    def forget(self, paths: Iterable[Source]) -> int:
        """Remove the files at or under these paths from the index, whether or not they exist; return their number."""
        return forget(self, paths)

    def files(self) -> dict[str, FileRecord]:
        """The files in the index, by absolute path."""
        searcher = self.engine.searcher()
        query = Query.term_query(self.schema, "last", 1)
        hits = searcher.search(query, max(_count(searcher, query), 1)).hits
        records = (layout.record_of(searcher.doc(address)) for _, address in hits)
        return {record.path: record for record in records}

    def _best(self, searcher: tantivy.Searcher, question: str, count: int) -> list[Passage]:
        queries = [Query.term_query(self.schema, "words", word) for word in dict.fromkeys(words(question))]
        any_word = Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])
        hits = searcher.search(any_word, count, count=False).hits
        return [layout.passage_of(searcher.doc(address), score) for score, address in hits]

    def _document_frequency(self, searcher: tantivy.Searcher, term: Term) -> int:
        """The number of passages with a word or a pair of words. Tantivy's own statistic counts deleted ones, too."""
        if len(term) == 1:
            return _count(searcher, Query.term_query(self.schema, "words", term[0]))
        return _count(searcher, Query.phrase_query(self.schema, "words", list(term)))


def _count(searcher: tantivy.Searcher, query: tantivy.Query) -> int:
    return int(searcher.search(query, 1).count)  # type: ignore[attr-defined]
