"""A request's id, in its response, its error and the log; and its span, in the trace that the client began."""

import json
import logging

import pytest
from gated_stage import gated
from loopback import BODIES, serving
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cascada import Ranker
from cascada.client import Client, ServerError
from cascada.search import Asker, MemoryRetriever, Passage
from cascada.serve.logs import JsonFormatter

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize("sent", ["a1b2-c3", "x" * 128, "2026/11/18:7+abc=._"])
def test_a_sane_id_is_taken_over(bm25, sent):
    assert bm25.get("/health", headers={"x-request-id": sent}).headers.get_list("x-request-id") == [sent]


@pytest.mark.parametrize("sent", ["", "x" * 129, "a b", "é".encode("latin-1"), "<script>", '"', "a,b"])
def test_any_other_is_replaced(bm25, sent):
    (given,) = bm25.get("/health", headers={"x-request-id": sent}).headers.get_list("x-request-id")
    assert given != sent
    assert len(given) == 32


@pytest.mark.parametrize("path", BODIES)
def test_errors_carry_the_id_where_the_dialect_allows(bm25, path):
    body = {key: [] if isinstance(value, list) else value for key, value in BODIES[path].items()}
    response = bm25.post(path, json=body, headers={"x-request-id": "mine-1"})
    assert response.status_code == 400
    assert response.headers["x-request-id"] == "mine-1"
    content = response.json()
    own = ("/v1/rank", "/v1/prune")
    if path != "/rerank":  # Text Embeddings Inference has no place for it
        assert (content["error"]["request_id"] if path in own else content["id"]) == "mine-1"


def test_an_internal_error_has_the_id_of_its_log_lines(caplog):
    caplog.set_level(logging.INFO)
    ranker, _ = gated()
    with serving(ranker) as http:
        sent = {"json": {"question": "fault", "candidates": ["a"]}, "headers": {"x-request-id": "mine-2"}}
        response = http.post("/v1/rank", **sent)
        with Client(str(http.base_url)) as client, pytest.raises(ServerError) as caught:
            client.rank("fault", ["a"])
    assert response.json()["error"]["request_id"] == "mine-2"
    events = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert {event["event"] for event in events if event.get("id") == "mine-2"} == {"fault", "request"}
    assert any(event.get("id") == caught.value.request_id for event in events)


@pytest.fixture
def spans(monkeypatch):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return lambda: [span for span in exporter.get_finished_spans() if span.context.trace_id == int(TRACE, 16)]


def test_spans_continue_the_clients_trace(spans):
    asker = Asker(MemoryRetriever([Passage("Hamlet is by Shakespeare.", "plays.txt", 0, 25)]), Ranker.load("bm25"))
    headers = {"traceparent": f"00-{TRACE}-{PARENT}-01", "x-request-id": "mine-3"}
    with serving(asker.ranker, asker=asker) as http:
        http.post("/v1/rank", json=BODIES["/v1/rank"], headers=headers)
        http.post("/v1/ask", json={"question": "who wrote hamlet?"}, headers=headers)
        http.post("/hamlet?who=hamlet", json={}, headers=headers)
        http.post("/v1/rank", json={}, headers=headers)
    assert [span.name for span in spans()] == [
        "rank", "POST /v1/rank", "retrieve", "rank", "ask", "POST /v1/ask", "POST unknown", "POST /v1/rank",
    ]  # fmt: skip
    rank, request, _, _, ask, asked, _, failed = spans()
    assert f"{request.parent.span_id:016x}" == PARENT
    assert rank.parent.span_id == request.context.span_id
    assert ask.parent.span_id == asked.context.span_id
    assert rank.attributes["reranker.model_name"] == "cascada"
    assert request.attributes["cascada.request_id"] == "mine-3"
    assert (request.kind, request.attributes["http.response.status_code"]) == (trace.SpanKind.SERVER, 200)
    assert failed.attributes["http.response.status_code"] == 422
    assert not any("hamlet" in str(span.to_json()).lower() for span in spans())


def test_a_malformed_traceparent_harms_nothing(spans, bm25):
    for value in ("", "00-zz", "x" * 5000, "00-" + "0" * 32 + "-" + "0" * 16 + "-01"):
        response = bm25.post("/v1/rank", json=BODIES["/v1/rank"], headers={"traceparent": value})
        assert response.status_code == 200
    assert spans() == []
