"""LangChain's document compressor."""

import asyncio
import re
from pathlib import Path

import pytest
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever

from cascada import Ranker
from cascada.integrations.langchain import CascadaCompressor, CascadaPruner


@pytest.fixture
def documents(texts):
    return [Document(text, id=str(i), metadata={"page": i, "tags": [i]}) for i, text in enumerate(texts)]


def test_documents_come_in_order_with_their_metadata_and_a_score(cascade, question, documents, texts):
    compressor = CascadaCompressor(ranker=cascade, top_n=4)
    assert isinstance(compressor, BaseDocumentCompressor)
    ranked = compressor.compress_documents(documents, question)
    local = cascade.rank(question, texts, top=4)
    assert [document.id for document in ranked] == [str(item.index) for item in local]
    assert [document.page_content for document in ranked] == [item.text for item in local]
    assert [document.metadata for document in ranked] == [
        {"page": item.index, "tags": [item.index], "relevance_score": item.score, "likely": local.likely}
        for item in local
    ]
    assert all("relevance_score" not in document.metadata for document in documents)


def test_it_can_be_awaited_and_drops(cascade, question, documents, dropped):
    compressor = CascadaCompressor(ranker=cascade, drop=0.5)
    ranked = asyncio.run(compressor.acompress_documents(documents, question))
    assert [document.metadata["page"] for document in ranked] == dropped
    scores = [document.metadata["relevance_score"] for document in ranked]
    assert scores == sorted(scores, reverse=True)


def test_no_documents_give_no_documents(cascade):
    assert CascadaCompressor(ranker=cascade).compress_documents([], "q") == []


def test_what_is_not_a_ranker_is_rejected():
    with pytest.raises(ValueError, match="ranker"):
        CascadaCompressor(ranker="bm25")


class FixedRetriever(BaseRetriever):
    """Finds the same two documents for every question."""

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("It rained."), Document("Shakespeare wrote Hamlet.")]


def test_a_retriever_is_wrapped_as_the_page_shows_it():
    page = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(from langchain_core.runnables .*?)```", page, re.DOTALL)
    names = {"compressor": CascadaCompressor(ranker=Ranker.load(), top_n=1), "retriever": FixedRetriever()}
    exec(code, names)
    assert [document.page_content for document in names["documents"]] == ["Shakespeare wrote Hamlet."]


PASSAGES = [
    "Beat the eggs.",
    "The Eiffel Tower is in Paris. It was completed in 1889. The city has bakeries.",
]
QUESTION = "When was the Eiffel Tower completed?"


def test_documents_are_cut_to_what_helps_to_answer():
    documents = [Document(text, id=str(i), metadata={"page": i}) for i, text in enumerate(PASSAGES)]
    pruner = CascadaPruner(ranker=Ranker.load())
    assert isinstance(pruner, BaseDocumentCompressor)
    (kept,) = asyncio.run(pruner.acompress_documents(documents, QUESTION))
    (_, local) = Ranker.load().prune(QUESTION, PASSAGES)
    assert (kept.id, kept.page_content) == ("1", local.text)
    assert kept.page_content.endswith("It was completed in 1889.")
    assert [PASSAGES[1][start:end] for start, end in kept.metadata["kept"]] == [one.text for one in local.kept]
    assert {"page": 1, "relevance_score": local.score, "share_cut": local.share_cut}.items() <= kept.metadata.items()
    assert [document.page_content for document in documents] == PASSAGES


def test_a_pruner_takes_a_budget_and_rejects_what_it_does_not_know():
    documents = [Document(text) for text in PASSAGES]
    (kept,) = CascadaPruner(ranker=Ranker.load(), budget=7).compress_documents(documents, QUESTION)
    assert kept.page_content == "It was completed in 1889."
    assert CascadaPruner(ranker=Ranker.load()).compress_documents([], QUESTION) == []
    with pytest.raises(ValueError, match="budjet"):
        CascadaPruner(ranker=Ranker.load(), budjet=7)
