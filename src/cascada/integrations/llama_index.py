"""LlamaIndex: a node postprocessor.

>>> from cascada import Ranker
>>> from llama_index.core.schema import NodeWithScore, TextNode
>>> rerank = CascadaRerank(ranker=Ranker.load("bm25"), top_n=1)
>>> nodes = [NodeWithScore(node=TextNode(text=text)) for text in ("It rained.", "By Shakespeare.")]
>>> rerank.postprocess_nodes(nodes, query_str="shakespeare's plays")[0].text
'By Shakespeare.'
"""

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from cascada.core.errors import CascadaError
from cascada.integrations.common import OnRanking, SupportsRank, candidates_of, descending_scores, options_in
from cascada.ranking.long_texts import Long
from cascada.ranking.selection import Cut


class CascadaRerank(BaseNodePostprocessor):
    """Sorts nodes by relevance, sets their scores, and keeps the best `top_n`, or all of them.

    `ranker` is a `Ranker` or a `Client`; options from `drop` to `skip_if_sure` are those of `Ranker.rank`. The first
    stage's scores, for `prior` and `skip_if_sure`, are the nodes' own, if all have one; else their order counts. The
    ranker reads the text of the nodes without their metadata, unless `metadata_mode` adds some of it. `on_ranking` is
    called with every `Ranking`, whose `likely` is False if not even the best node is likely to be an answer.
    """

    ranker: SupportsRank = Field(exclude=True)
    top_n: int | None = None
    drop: Any = None
    keep: Sequence[int] | None = None
    min_score: float | None = None
    cut: Cut | None = None
    deadline_ms: float | None = None
    long: Long | None = None
    max_tokens: int | None = None
    prior: bool | float | None = None
    skip_if_sure: float | None = None
    metadata_mode: MetadataMode = MetadataMode.NONE
    on_ranking: OnRanking | None = Field(default=None, exclude=True)

    @classmethod
    def class_name(cls) -> str:
        return "CascadaRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise CascadaError("There is no question to rank the nodes for: give query_bundle or query_str.")
        if not nodes:
            return []
        options = options_in(self)
        texts = [node.node.get_content(metadata_mode=self.metadata_mode) for node in nodes]
        candidates = candidates_of(texts, [node.score for node in nodes], options)
        ranking = self.ranker.rank(query_bundle.query_str, candidates, top=self.top_n, **options)
        if self.on_ranking:
            self.on_ranking(ranking)
        pairs = zip(ranking, descending_scores(ranking), strict=True)
        return [NodeWithScore(node=nodes[item.index].node, score=score) for item, score in pairs]
