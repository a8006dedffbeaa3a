"""Spans in OpenTelemetry's own memory exporter, with the conventions for rerankers."""

import subprocess
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.search import Asker, MemoryRetriever, Passage

QUESTION = "who wrote hamlet?"
TEXTS = ["It rained.", {"text": "Hamlet is by Shakespeare.", "prior": 3}]


@pytest.fixture
def spans(monkeypatch):
    """Begins to record; the function returns the spans that have ended."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=1000))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter.get_finished_spans


def test_a_ranking_is_a_span_with_the_conventions_of_rerankers(spans):
    ranking = Ranker.load("bm25").rank(QUESTION, TEXTS, top=1)
    (span,) = spans()
    assert span.name == "rank"
    assert dict(span.attributes) == {
        "openinference.span.kind": "RERANKER",
        "reranker.model_name": "bm25",
        "reranker.top_k": 1,
        "reranker.input_documents.0.document.id": "0",
        "reranker.input_documents.1.document.id": "1",
        "reranker.input_documents.1.document.score": 3.0,
        "reranker.output_documents.0.document.id": "1",
        "reranker.output_documents.0.document.score": ranking[0].score,
        "cascada.candidates": 2,
        "cascada.relative_cost": ranking.relative_cost,
        "cascada.complete": True,
        "cascada.skipped": False,
        "cascada.cached": 0,
    }


def test_texts_are_written_only_if_a_setting_asks_for_it(spans, monkeypatch):
    ranker = Ranker.load("bm25")
    ranker.rank(QUESTION, TEXTS)
    assert "hamlet" not in str(spans()[0].to_json()).lower()
    monkeypatch.setenv("CASCADA_TRACE_TEXTS", "1")
    ranker.rank(QUESTION, TEXTS)
    attributes = spans()[1].attributes
    assert attributes["reranker.query"] == QUESTION
    assert attributes["reranker.input_documents.0.document.content"] == "It rained."
    assert attributes["reranker.output_documents.0.document.content"] == "Hamlet is by Shakespeare."


@pytest.mark.parametrize(("setting", "documents"), [("", 18), ("1000", 164)])
def test_as_many_documents_are_written_as_a_span_has_room_for(spans, monkeypatch, caplog, setting, documents):
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", setting)
    monkeypatch.setenv("CASCADA_TRACE_TEXTS", "1")
    candidates = [{"text": f"hamlet {number}", "prior": number} for number in range(300)]
    ranking = Ranker.load("bm25").rank(QUESTION, candidates)
    attributes = spans()[0].attributes
    written = [name for name in attributes if name.startswith("reranker.output") and name.endswith("id")]
    assert len(written) == documents
    assert not caplog.records
    assert attributes["openinference.span.kind"] == "RERANKER"
    assert attributes["cascada.candidates"] == 300
    assert attributes["reranker.output_documents.0.document.id"] == str(ranking[0].index)


def test_an_error_is_recorded_without_what_users_wrote(spans):
    with pytest.raises(CascadaError):
        Ranker.load("bm25").rank(QUESTION, [{"text": "x", "prior": "secret"}, "y"], prior=True)
    (span,) = spans()
    assert (span.status.status_code, span.status.description) == (trace.StatusCode.ERROR, "CascadaError")
    assert not span.events
    assert span.attributes["openinference.span.kind"] == "RERANKER"


def test_a_question_to_documents_is_a_chain_of_retrieving_and_ranking(spans, monkeypatch):
    asker = Asker(MemoryRetriever([Passage("It rained. Hamlet is by Shakespeare.", "plays.txt", 0, 36)]))
    asker.ask(QUESTION)
    retrieve, rank, ask = spans()
    assert [span.attributes["openinference.span.kind"] for span in (retrieve, rank, ask)] == [
        "RETRIEVER",
        "RERANKER",
        "CHAIN",
    ]
    assert {retrieve.parent.span_id, rank.parent.span_id} == {ask.context.span_id}
    assert retrieve.attributes["retrieval.documents.0.document.score"] > 0
    assert ask.attributes["cascada.sentences"] == 2
    assert not any("hamlet" in str(span.to_json()).lower() for span in spans())
    monkeypatch.setenv("CASCADA_TRACE_TEXTS", "yes")
    asker.ask(QUESTION)
    assert spans()[-1].attributes["input.value"] == QUESTION
    assert spans()[-3].attributes["retrieval.documents.0.document.id"] == "plays.txt"


def test_without_a_tracer_provider_nothing_is_imported():
    code = """
import sys
from cascada import Ranker
Ranker.load("bm25").rank("a", ["a"])
print([name for name in sys.modules if name.startswith(("opentelemetry", "openinference"))])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_provider_that_nobody_configured_records_nothing():
    assert Ranker.load("bm25").rank("a", ["a"])[0].index == 0
    from cascada.core.tracing import tracer

    assert tracer() is None
