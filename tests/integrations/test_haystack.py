"""Haystack's ranker component, in its pipelines."""

import asyncio

import pytest
from haystack import Document, Pipeline
from haystack.telemetry import _telemetry

from cascada.integrations.haystack import CascadaRanker


@pytest.fixture
def documents(texts):
    return [Document(content=text, meta={"page": i}) for i, text in enumerate(texts)]


def test_these_tests_report_no_usage():
    assert _telemetry.telemetry is None


def test_documents_come_out_of_a_pipeline_in_order(cascade, cascade_folder, question, documents, texts):
    pipeline = Pipeline()
    pipeline.add_component("ranker", CascadaRanker(cascade_folder, top_k=5))
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["cascada.integrations.haystack"])
    output = loaded.run({"ranker": {"query": question, "documents": documents}})
    local = cascade.rank(question, texts, top=5)
    ranked = output["ranker"]["documents"]
    assert [(document.meta["page"], document.content, document.score) for document in ranked] == [
        (item.index, item.text, item.score) for item in local
    ]
    assert [document.id for document in ranked] == [documents[item.index].id for item in local]
    assert {document.score for document in documents} == {None}


def test_it_can_be_awaited_and_drops(cascade, question, documents, dropped):
    ranker = CascadaRanker(cascade, drop=0.5)
    ranked = asyncio.run(ranker.run_async(query=question, documents=documents))["documents"]
    assert [document.meta["page"] for document in ranked] == dropped
    scores = [document.score for document in ranked]
    assert scores == sorted(scores, reverse=True)


def test_a_run_can_ask_for_fewer_and_for_none(cascade, question, documents):
    ranker = CascadaRanker(cascade, top_k=5)
    assert len(ranker.run(query=question, documents=documents, top_k=2)["documents"]) == 2
    assert ranker.run(query=question, documents=[]) == {"documents": [], "likely": None}


def test_a_ranker_without_a_name_cannot_be_saved(cascade):
    with pytest.raises(ValueError, match="given by name"):
        CascadaRanker(cascade).to_dict()
