"""LangChain's document compressor."""

import asyncio

import pytest
from langchain_core.documents import BaseDocumentCompressor, Document

from cascada.integrations.langchain import CascadaCompressor


@pytest.fixture
def documents(texts):
    return [Document(text, id=str(i), metadata={"page": i, "tags": [i]}) for i, text in enumerate(texts)]


def test_documents_come_in_order_with_their_metadata_and_a_score(cascade, question, documents, texts):
    compressor = CascadaCompressor(ranker=cascade, top_n=4)
    assert isinstance(compressor, BaseDocumentCompressor)
    found = compressor.compress_documents(documents, question)
    alone = cascade.rank(question, texts, top=4)
    assert [one.id for one in found] == [str(item.index) for item in alone]
    assert [one.page_content for one in found] == [item.text for item in alone]
    assert [one.metadata for one in found] == [
        {"page": item.index, "tags": [item.index], "relevance_score": item.score} for item in alone
    ]
    assert all("relevance_score" not in document.metadata for document in documents)


def test_it_can_be_awaited_and_drops(cascade, question, documents, dropped):
    compressor = CascadaCompressor(ranker=cascade, drop=0.5)
    found = asyncio.run(compressor.acompress_documents(documents, question))
    assert [one.metadata["page"] for one in found] == dropped
    scores = [one.metadata["relevance_score"] for one in found]
    assert scores == sorted(scores, reverse=True)


def test_no_documents_are_no_documents(cascade):
    assert CascadaCompressor(ranker=cascade).compress_documents([], "q") == []


def test_what_is_not_a_ranker_is_refused():
    with pytest.raises(ValueError, match="ranker"):
        CascadaCompressor(ranker="bm25")
