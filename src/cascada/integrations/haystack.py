"""Haystack: a ranker component.

>>> from haystack import Document
>>> ranker = CascadaRanker("bm25", top_k=1)
>>> documents = [Document(content="It rained."), Document(content="By Shakespeare.")]
>>> ranker.run(query="shakespeare's plays", documents=documents)["documents"][0].content
'By Shakespeare.'
"""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from haystack import Document, component, default_from_dict, default_to_dict

from cascada.core.errors import CascadaError
from cascada.integrations.common import Options, SupportsRank, candidates_of, checked, descending_scores, ranker_of


@component
class CascadaRanker:
    """Sorts documents by relevance, sets their scores, and keeps the best `top_k`, or all of them.

    `model` is what `Ranker.load` takes, loaded by `warm_up`. It can also be a ranker, but then the pipeline cannot be
    saved. `options` are those of `Ranker.rank`. The first stage's scores, for `prior` and `skip_if_sure`, are the
    documents' own, if all have one; else their order counts. The output `likely` is False if not even the best document
    is likely to be an answer, and None if there are none to rank, or the ranker only compares words.
    """

    def __init__(
        self,
        model: str | Path | SupportsRank | None = None,
        *,
        top_k: int | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.model = model
        self.top_k = top_k
        self.options = checked(options)
        self._ranker: SupportsRank | None = None

    def warm_up(self) -> None:
        self._ranker = self._ranker or ranker_of(self.model)

    @component.output_types(documents=list[Document], likely=bool | None)
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        self.warm_up()
        if not documents or self._ranker is None:
            return {"documents": [], "likely": None}
        texts = [document.content or "" for document in documents]
        candidates = candidates_of(texts, [document.score for document in documents], self.options)
        ranking = self._ranker.rank(query, candidates, top=top_k or self.top_k, **self.options)
        pairs = zip(ranking, descending_scores(ranking), strict=True)
        ranked = [replace(documents[item.index], score=score) for item, score in pairs]
        return {"documents": ranked, "likely": ranking.likely}

    @component.output_types(documents=list[Document], likely=bool | None)
    async def run_async(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        output: dict[str, Any] = await asyncio.to_thread(self.run, query, documents, top_k)
        return output

    def to_dict(self) -> dict[str, Any]:
        if isinstance(self.model, SupportsRank):
            raise CascadaError("A pipeline can be saved only if its ranker was given by name.")
        model = None if self.model is None else str(self.model)
        saved: dict[str, Any] = default_to_dict(self, model=model, top_k=self.top_k, **self.options)
        return saved

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "CascadaRanker":
        ranker: CascadaRanker = default_from_dict(cls, data)
        return ranker
