"""LlamaIndex: two node postprocessors, one that sorts nodes and one that cuts their texts.

>>> from cascada import Ranker
>>> from llama_index.core.schema import NodeWithScore, TextNode
>>> rerank = CascadaRerank(ranker=Ranker.load("bm25"), top_n=1)
>>> nodes = [NodeWithScore(node=TextNode(text=text)) for text in ("It rained.", "By Shakespeare.")]
>>> rerank.postprocess_nodes(nodes, query_str="shakespeare's plays")[0].text
'By Shakespeare.'
>>> pruner = CascadaPruner(ranker=Ranker.load("bm25"))
>>> nodes = [NodeWithScore(node=TextNode(text="It rained. By Shakespeare."))]
>>> pruner.postprocess_nodes(nodes, query_str="shakespeare's plays")[0].text
'By Shakespeare.'
"""

from llama_index.core.bridge.pydantic import Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from cascada.core.errors import CascadaError
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


class CascadaRerank(RankFields, BaseNodePostprocessor):
    """Sorts nodes by relevance, sets their scores, and keeps the best `top_n`, or all of them.

    `ranker` is a `Ranker` or a `Client`; options from `drop` to `skip_if_sure` are those of `Ranker.rank`. The first
    stage's scores, for `prior` and `skip_if_sure`, are the nodes' own, if all have one; else their order counts. The
    ranker reads the text of the nodes without their metadata, unless `metadata_mode` adds some of it. `on_ranking` is
    called with every `Ranking`, whose `likely` is False if not even the best node is likely to be an answer.
    """

    ranker: SupportsRank = Field(exclude=True)
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


class CascadaPruner(PruneFields, BaseNodePostprocessor):
    """Cuts the texts of nodes down to the sentences that help to answer; nodes of which nothing is left are dropped.

    `ranker` is a `Ranker` or a `Client`; the other arguments are those of `Ranker.prune`. The order of the nodes and
    their scores stay. The nodes are copies, with the share of the text that was cut as `share_cut` in their metadata.
    """

    ranker: SupportsPrune = Field(exclude=True)

    @classmethod
    def class_name(cls) -> str:
        return "CascadaPruner"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise CascadaError("There is no question to prune the nodes for: give query_bundle or query_str.")
        if not nodes:
            return []
        texts = [node.node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        pruned = self.ranker.prune(query_bundle.query_str, texts, **self.prune_options())
        return [_cut(nodes[passage.index], passage) for passage in pruned if passage.kept]


def _cut(node: NodeWithScore, passage: PrunedPassage) -> NodeWithScore:
    """A copy of the node with what was kept of it; the index's own nodes are not changed."""
    copy = node.node.model_copy(deep=True)
    copy.set_content(passage.text)
    copy.metadata["share_cut"] = passage.share_cut
    for excluded in (copy.excluded_llm_metadata_keys, copy.excluded_embed_metadata_keys):
        excluded.append("share_cut")  # for the application, not for the prompt
    return NodeWithScore(node=copy, score=node.score)
