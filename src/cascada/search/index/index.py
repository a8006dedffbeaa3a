"""The index as a search engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import tantivy

from cascada.search.files import Report, Source, Watch
from cascada.search.index import layout
from cascada.search.index.layout import FileRecord
from cascada.search.index.update import Update, forget, only_writer, update
from cascada.search.passage import Passage, document_id
from cascada.search.retrievers import checked_scoring
from cascada.search.tfidf import RESCORED, Term, TfIdf
from cascada.text.words import words

if TYPE_CHECKING:
    from cascada.search.index.encodings import Encodings

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
        with layout.searching(self.folder):
            self.engine = layout.open_index(self.folder)
        self.schema = layout.schema()

    def __len__(self) -> int:
        """The number of passages."""
        return int(self.engine.searcher().num_docs)

    def retrieve(self, question: str, count: int) -> list[Passage]:
        """At most `count` passages, best first."""
        with layout.searching(self.folder):
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
        wait: float = 0.0,
    ) -> Update:
        """Read new and changed files under these paths, and remove from the index those that no longer exist.

        `files`: what `find_files(paths)` found, if it was called before. `report` is called with the problem of each
        file that is skipped; the default is a Python warning. `watch` wraps the list of files to show progress. If
        another process is changing the index, wait up to `wait` seconds for it, then raise `IndexBusy`.
        """
        return update(self, paths, files, report, watch, wait)

    def encode(
        self,
        model: str | Path | None = None,
        *,
        language: str = "en",
        advance: Callable[[int], object] = lambda _: None,
    ) -> int:
        """Encode every passage that has not been encoded yet, and return their number; resumes after a kill.

        `model` is a decoupled ranker whose encodings can be compared with a question's; the default is the bundled
        model. Encodings of another model or another `language` are replaced. `advance` is called with the number of
        passages that are finished.
        """
        from cascada.search.index.encodings import Encodings, encode, encoder_named

        name, encoder = encoder_named(model)
        with only_writer(self):
            encodings = Encodings.of(self.folder, name, encoder, language)
            count = encode(self, encodings, encoder, advance=advance)
        self.__dict__.pop("encodings", None)
        return count

    @cached_property
    def encodings(self) -> Encodings | None:
        """The encodings of its passages; None if there are none."""
        from cascada.search.index.encodings import Encodings

        return Encodings.open(self.folder)

    def forget(self, paths: Iterable[Source]) -> int:
        """Remove the files at or under these paths from the index, whether or not they exist; return their number."""
        return forget(self, paths)

    def passages(self) -> list[Passage]:
        """Every passage, in no particular order."""
        return self._all(Query.all_query())

    def passages_of(self, document: str) -> list[Passage]:
        """The passages of a document, in order; none if it is not in the index."""
        return self.document(document_id(document))

    def document(self, identifier: str) -> list[Passage]:
        """The passages of the document with this id (`Answer.document_id`), in order; none if there is none."""
        query = Query.term_query(self.schema, "document", identifier)
        return sorted(self._all(query), key=lambda passage: passage.start)

    def passages_with(self, keys: Sequence[bytes]) -> list[Passage]:
        """The passages with these keys, in the order of the keys; see `layout.passage_key`."""
        if not keys:
            return []
        query = Query.term_set_query(self.schema, "key", [key.hex() for key in keys])
        place = {key: number for number, key in enumerate(keys)}
        with layout.searching(self.folder):
            return sorted(self._all(query), key=lambda passage: place[layout.passage_key(passage)])

    def files(self) -> dict[str, FileRecord]:
        """The files in the index, by absolute path."""
        with layout.searching(self.folder):
            entries = self._entries(Query.term_query(self.schema, "last", 1))
            return {record.path: record for record in map(layout.record_of, entries)}

    def _all(self, query: tantivy.Query) -> list[Passage]:
        with layout.searching(self.folder):
            return [layout.passage_of(entry, 0.0) for entry in self._entries(query)]

    def _entries(self, query: tantivy.Query) -> Iterator[tantivy.Document]:
        """Every entry that a query matches."""
        searcher = self.engine.searcher()
        hits = searcher.search(query, max(_count(searcher, query), 1)).hits
        return (searcher.doc(address) for _, address in hits)

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
