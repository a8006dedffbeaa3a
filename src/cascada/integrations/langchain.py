"""LangChain: two document compressors, one that sorts documents and one that cuts them.

>>> from cascada import Ranker
>>> from langchain_core.documents import Document
>>> compressor = CascadaCompressor(ranker=Ranker.load("bm25"), top_n=1)
>>> ranked = compressor.compress_documents([Document("It rained."), Document("By Shakespeare.")], "shakespeare's plays")
>>> ranked[0].page_content
'By Shakespeare.'
>>> pruner = CascadaPruner(ranker=Ranker.load("bm25"))
>>> pruner.compress_documents([Document("It rained. By Shakespeare.")], "shakespeare's plays")[0].page_content
'By Shakespeare.'
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict

from cascada.integrations.common import (
    OnRanking,
    SupportsPrune,
    SupportsRank,
    candidates_of,
    descending_scores,
    options_in,
)
from cascada.integrations.fields import PruneFields, RankFields
from cascada.ranking import PrunedPassage


class CascadaCompressor(RankFields, BaseDocumentCompressor):
    """Sorts documents by relevance and keeps the best `top_n`, or all of them.

    `ranker` is a `Ranker` or a `Client`; options from `drop` to `skip_if_sure` are those of `Ranker.rank`. The first
    stage's scores, for `prior` and `skip_if_sure`, are those under `score_key` in the metadata, if all documents have
    one; else their order counts. Documents keep their metadata and get a `relevance_score` in it, as with LangChain's
    other rerankers, and `likely`: False if not even the best of them is likely to be an answer. `on_ranking` is called
    with every `Ranking`, also if `min_score` leaves no document.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    ranker: SupportsRank
    score_key: str = "score"
    on_ranking: OnRanking | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        if not documents:
            return []
        options = options_in(self)
        texts = [document.page_content for document in documents]
        scores = [document.metadata.get(self.score_key) for document in documents]
        ranking = self.ranker.rank(query, candidates_of(texts, scores, options), top=self.top_n, **options)
        if self.on_ranking:
            self.on_ranking(ranking)
        return [
            _scored(documents[item.index], {"relevance_score": score, "likely": ranking.likely})
            for item, score in zip(ranking, descending_scores(ranking), strict=True)
        ]


def _scored(document: Document, added: dict[str, Any]) -> Document:
    """A copy of the document with more metadata; the retriever's own documents are not changed."""
    return document.model_copy(update={"metadata": {**document.metadata, **added}})


class CascadaPruner(PruneFields, BaseDocumentCompressor):
    """Cuts documents down to the sentences that help to answer; those of which nothing is left are dropped.

    `ranker` is a `Ranker` or a `Client`; the other arguments are those of `Ranker.prune`. The order of the documents
    stays. They keep their metadata and get the score of their best sentence as `relevance_score`, the share of the text
    that was cut as `share_cut`, and the characters that were kept, each as (start, end), as `kept`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    ranker: SupportsPrune

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        if not documents:
            return []
        texts = [document.page_content for document in documents]
        pruned = self.ranker.prune(query, texts, **self.prune_options())
        return [_cut(documents[passage.index], passage) for passage in pruned if passage.kept]


def _cut(document: Document, passage: PrunedPassage) -> Document:
    """A copy of the document with what was kept of it."""
    kept = [(sentence.start, sentence.end) for sentence in passage.kept]
    metadata = {"relevance_score": passage.score, "share_cut": passage.share_cut, "kept": kept}
    return document.model_copy(update={"page_content": passage.text, "metadata": {**document.metadata, **metadata}})
