"""LangChain: a document compressor.

>>> from cascada import Ranker
>>> from langchain_core.documents import Document
>>> compressor = CascadaCompressor(ranker=Ranker.load("bm25"), top_n=1)
>>> ranked = compressor.compress_documents([Document("It rained."), Document("By Shakespeare.")], "shakespeare's plays")
>>> ranked[0].page_content
'By Shakespeare.'
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict

from cascada.integrations.common import SupportsRank, descending_scores


class CascadaCompressor(BaseDocumentCompressor):
    """Sorts documents by relevance and keeps the best `top_n`, or all of them.

    `ranker` is a `Ranker` or a `Client`; `drop`, `keep` and `deadline_ms` are those of `Ranker.rank`. Documents keep
    their metadata and get a `relevance_score` in it, as with LangChain's other rerankers.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    ranker: SupportsRank
    top_n: int | None = None
    drop: Any = None
    keep: Sequence[int] | None = None
    deadline_ms: float | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        if not documents:
            return []
        texts = [document.page_content for document in documents]
        options = {"drop": self.drop, "keep": self.keep, "deadline_ms": self.deadline_ms}
        ranking = self.ranker.rank(query, texts, top=self.top_n, **options)
        return [
            _scored(documents[item.index], score)
            for item, score in zip(ranking, descending_scores(ranking), strict=True)
        ]


def _scored(document: Document, score: float) -> Document:
    """A copy of the document with its score; the retriever's own documents are not changed."""
    return document.model_copy(update={"metadata": {**document.metadata, "relevance_score": score}})
