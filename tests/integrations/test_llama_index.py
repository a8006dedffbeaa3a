"""LlamaIndex's node postprocessor."""

import asyncio

import pytest
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from cascada import Ranker
from cascada.integrations.llama_index import CascadaPruner, CascadaRerank


@pytest.fixture
def nodes(texts):
    return [NodeWithScore(node=TextNode(text=text, metadata={"page": i}), score=0.1) for i, text in enumerate(texts)]


def test_nodes_come_in_order_with_the_rankers_scores(cascade, question, nodes, texts):
    ranked = CascadaRerank(ranker=cascade, top_n=3).postprocess_nodes(nodes, query_str=question)
    local = cascade.rank(question, texts, top=3)
    assert [(node.metadata["page"], node.score) for node in ranked] == [(item.index, item.score) for item in local]
    assert [node.node is nodes[item.index].node for node, item in zip(ranked, local, strict=True)] == [True] * 3
    assert {node.score for node in nodes} == {0.1}


def test_it_can_be_awaited_and_drops(cascade, question, nodes, dropped):
    rerank = CascadaRerank(ranker=cascade, drop=0.5)
    ranked = asyncio.run(rerank.apostprocess_nodes(nodes, QueryBundle(question)))
    assert [node.metadata["page"] for node in ranked] == dropped
    scores = [node.score for node in ranked]
    assert scores == sorted(scores, reverse=True)


def test_metadata_is_read_only_when_it_is_asked_for():
    nodes = [
        NodeWithScore(node=TextNode(text="Rain.")),
        NodeWithScore(node=TextNode(text="Sun.", metadata={"of": "hamlet"})),
    ]
    first = {}
    for mode in (MetadataMode.NONE, MetadataMode.EMBED):
        rerank = CascadaRerank(ranker=Ranker.load("bm25"), metadata_mode=mode)
        first[mode] = rerank.postprocess_nodes(nodes, query_str="hamlet")[0].text
    assert first == {MetadataMode.NONE: "Rain.", MetadataMode.EMBED: "Sun."}


def test_without_a_question_or_without_nodes(cascade, nodes):
    rerank = CascadaRerank(ranker=cascade)
    assert rerank.postprocess_nodes([], query_str="q") == []
    with pytest.raises(ValueError, match="There is no question"):
        rerank.postprocess_nodes(nodes)


def test_nodes_are_cut_to_what_helps_to_answer():
    texts = [
        "Beat the eggs.",
        "The Eiffel Tower is in Paris. It was completed in 1889. The city has bakeries.",
    ]
    nodes = [NodeWithScore(node=TextNode(text=text, metadata={"page": i}), score=0.3) for i, text in enumerate(texts)]
    pruner = CascadaPruner(ranker=Ranker.load())
    question = "When was the Eiffel Tower completed?"
    (kept,) = asyncio.run(pruner.apostprocess_nodes(nodes, QueryBundle(question)))
    local = Ranker.load().prune(question, texts)[1]
    assert (kept.text, kept.score, kept.node.node_id) == (local.text, 0.3, nodes[1].node.node_id)
    assert kept.metadata == {"page": 1, "share_cut": local.share_cut}
    assert "share_cut" not in kept.node.get_content(metadata_mode=MetadataMode.LLM)
    assert [node.text for node in nodes] == texts
    assert nodes[1].metadata == {"page": 1}


def test_a_pruner_without_a_question_or_without_nodes(nodes):
    pruner = CascadaPruner(ranker=Ranker.load("bm25"))
    assert pruner.postprocess_nodes([], query_str="q") == []
    with pytest.raises(ValueError, match="There is no question"):
        pruner.postprocess_nodes(nodes)
