"""Haystack's ranker component, in its pipelines."""

import asyncio

import pytest
from haystack import Document, Pipeline
from haystack.telemetry import _telemetry

from cascada.integrations.haystack import CascadaRanker


@pytest.fixture
def documents(texts):
    return [Document(content=text, meta={"page": i}) for i, text in enumerate(texts)]


def test_nothing_is_told_about_who_runs_these_tests():
    assert _telemetry.telemetry is None


def test_documents_come_out_of_a_pipeline_in_order(cascade, cascade_folder, question, documents, texts):
    pipeline = Pipeline()
    pipeline.add_component("ranker", CascadaRanker(cascade_folder, top_k=5))
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["cascada.integrations.haystack"])
    found = loaded.run({"ranker": {"query": question, "documents": documents}})
    alone = cascade.rank(question, texts, top=5)
    ranked = found["ranker"]["documents"]
    assert [(one.meta["page"], one.content, one.score) for one in ranked] == [
        (item.index, item.text, item.score) for item in alone
    ]
    assert [one.id for one in ranked] == [documents[item.index].id for item in alone]
    assert {document.score for document in documents} == {None}


def test_it_can_be_awaited_and_drops(cascade, question, documents, dropped):
    ranker = CascadaRanker(cascade, drop=0.5)
    found = asyncio.run(ranker.run_async(query=question, documents=documents))["documents"]
    assert [one.meta["page"] for one in found] == dropped
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_run_can_ask_for_fewer_and_for_none(cascade, question, documents):
    ranker = CascadaRanker(cascade, top_k=5)
    assert len(ranker.run(query=question, documents=documents, top_k=2)["documents"]) == 2
    assert ranker.run(query=question, documents=[]) == {"documents": []}


def test_a_ranker_without_a_name_cannot_be_saved(cascade):
    with pytest.raises(ValueError, match="given by its name"):
        CascadaRanker(cascade).to_dict()
