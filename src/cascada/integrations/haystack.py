"""Haystack: a ranker component.

>>> from haystack import Document
>>> ranker = CascadaRanker("bm25", top_k=1)
>>> documents = [Document(content="It rained."), Document(content="By Shakespeare.")]
>>> ranker.run(query="shakespeare's plays", documents=documents)["documents"][0].content
'By Shakespeare.'
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from cascada.core.errors import CascadaError
from cascada.integrations.common import SupportsRank, descending_scores, ranker_of


@component
class CascadaRanker:
    """Sorts documents by relevance, sets their scores, and keeps the best `top_k`, or all of them.

    `model` is what `Ranker.load` takes, loaded by `warm_up`. It can also be a ranker, but then the pipeline cannot be
    saved.
    """

    def __init__(
        self,
        model: str | Path | SupportsRank | None = None,
        *,
        top_k: int | None = None,
        drop: Any = None,
        keep: Sequence[int] | None = None,
        deadline_ms: float | None = None,
    ) -> None:
        self.model = model
        self.top_k = top_k
        self.options: dict[str, Any] = {"drop": drop, "keep": keep, "deadline_ms": deadline_ms}
        self._ranker: SupportsRank | None = None

    def warm_up(self) -> None:
        self._ranker = self._ranker or ranker_of(self.model)

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, list[Document]]:
        self.warm_up()
        if not documents or self._ranker is None:
            return {"documents": []}
        texts = [document.content or "" for document in documents]
        ranking = self._ranker.rank(query, texts, top=top_k or self.top_k, **self.options)
        pairs = zip(ranking, descending_scores(ranking), strict=True)
        return {"documents": [replace(documents[item.index], score=score) for item, score in pairs]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, documents: list[Document], top_k: int | None = None
    ) -> dict[str, list[Document]]:
        output: dict[str, list[Document]] = await asyncio.to_thread(self.run, query, documents, top_k)
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
