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
from cascada.integrations.common import SupportsRank, descending_scores


class CascadaRerank(BaseNodePostprocessor):
    """Sorts nodes by relevance, sets their scores, and keeps the best `top_n`, or all of them.

    `ranker` is a `Ranker` or a `Client`; `drop`, `keep` and `deadline_ms` are those of `Ranker.rank`. The ranker reads
    the text of the nodes without their metadata, unless `metadata_mode` adds some of it.
    """

    ranker: SupportsRank = Field(exclude=True)
    top_n: int | None = None
    drop: Any = None
    keep: Sequence[int] | None = None
    deadline_ms: float | None = None
    metadata_mode: MetadataMode = MetadataMode.NONE

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
        texts = [node.node.get_content(metadata_mode=self.metadata_mode) for node in nodes]
        options = {"drop": self.drop, "keep": self.keep, "deadline_ms": self.deadline_ms}
        ranking = self.ranker.rank(query_bundle.query_str, texts, top=self.top_n, **options)
        pairs = zip(ranking, descending_scores(ranking), strict=True)
        return [NodeWithScore(node=nodes[item.index].node, score=score) for item, score in pairs]
