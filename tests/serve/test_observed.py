"""What an operator sees: metrics, logs and a description; never what users wrote."""

import json
import logging
import re

import pytest
from fastapi.testclient import TestClient
from gated_stage import gated
from loopback import metric, serving, wait_until

from cascada.serve import create_app
from cascada.serve.logs import JsonLines

SECRET = "xyzzy"


@pytest.fixture
def lines(caplog):
    """The log's lines, as they are written."""
    caplog.set_level(logging.INFO)
    return lambda: [JsonLines().format(record) for record in caplog.records if record.name != "httpx"]


def test_the_log_tells_of_requests_but_not_what_they_said(lines):
    ranker, _ = gated()
    with serving(ranker) as http:
        found = http.post("/v1/rank", json={"question": SECRET, "candidates": [f"{SECRET}!"]})
        http.post("/v1/rank", json={"question": [SECRET], "candidates": SECRET})
        http.post("/v1/rank", content=SECRET, headers={"content-type": SECRET})
        http.get(f"/{SECRET}", params={SECRET: SECRET})
        assert http.post("/v1/rank", json={"question": "fault", "candidates": [SECRET]}).status_code == 500
    text = "\n".join(lines())
    assert SECRET not in text
    assert "secret" not in text
    told = [json.loads(line) for line in lines()]
    (first,) = (one for one in told if one.get("id") == found.headers["x-request-id"])
    assert (first["event"], first["route"], first["status"], first["candidates"]) == ("request", "/v1/rank", 200, 1)
    assert [one["status"] for one in told if one["event"] == "request"] == [200, 422, 415, 404, 500]
    assert any(one.get("error") == "RuntimeError" and "gated_stage.py" in one["at"][-1] for one in told)


def test_metrics_count_batches_drops_and_what_was_saved():
    ranker, _ = gated(2)
    with serving(ranker) as http:
        http.post("/v1/rank", json={"question": "q", "candidates": ["a"] * 10, "drop": 0.3})
        assert metric(http, 'cascada_requests_total{route="/v1/rank",status="200"}') == 1
        assert metric(http, 'cascada_dropped_candidates_total{exit="1",stage="0"}') == 3
        assert metric(http, "cascada_flops_total") == (10 + 7) * 30
        assert metric(http, "cascada_flops_saved_total") == 3 * 30
        assert metric(http, "cascada_batch_candidates_sum") == 10
        assert metric(http, 'cascada_stage_seconds_count{exit="2",stage="1"}') == 1
        assert metric(http, 'cascada_request_seconds_count{route="/v1/rank"}') == 1
        assert metric(http, "cascada_ready") == 1


def test_a_server_is_alive_before_it_is_ready():
    ranker, (stage,) = gated()
    stage.close()
    with TestClient(create_app(ranker)) as http:
        assert http.get("/health").json() == {"status": "alive"}
        assert http.get("/ready").status_code == 503
        stage.gate.set()
        wait_until(lambda: http.get("/ready").status_code == 200)


def test_the_description_has_an_example_of_everything_that_is_posted(bm25):
    found = bm25.get("/openapi.json").json()
    posts = {path: ways["post"] for path, ways in found["paths"].items() if "post" in ways}
    assert set(posts) == {"/v1/rank", "/v1/ask", "/v1/rerank", "/v2/rerank", "/rerank"}
    for path, way in posts.items():
        body = way["requestBody"]["content"]["application/json"]
        assert set(body["example"]) <= set(body["schema"]["properties"])
        assert bm25.post(path, json=body["example"]).status_code == (404 if path == "/v1/ask" else 200)
        for code in ("200", "400", "401", "413", "422", "429"):
            assert way["responses"][code]["content"]["application/json"]["example"]


@pytest.mark.parametrize("path", ["/v1/rank", "/v1/rerank", "/rerank"])
def test_the_descriptions_answer_has_the_keys_of_a_real_one(bm25, path):
    way = bm25.get("/openapi.json").json()["paths"][path]["post"]
    found = bm25.post(path, json=way["requestBody"]["content"]["application/json"]["example"]).json()
    example = way["responses"]["200"]["content"]["application/json"]["example"]
    first, shown = (one[0] if isinstance(one, list) else one for one in (found, example))
    assert set(first) == set(shown)


def test_at_the_root_is_a_page_that_fetches_nothing_from_elsewhere(bm25):
    page = bm25.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    named = set(re.findall(r'(?:src|href)="([^"]+)"', page.text)) - {"data:,"}
    assert named == {"/page.css", "/page.js"}
    for path in named:
        part = bm25.get(path)
        assert part.status_code == 200
        assert "http" not in part.text


def test_every_part_that_the_pages_script_looks_up_is_on_the_page(bm25):
    there = set(re.findall(r'id="(\w+)"', bm25.get("/").text))
    assert set(re.findall(r'\$\("(\w+)"\)', bm25.get("/page.js").text)) <= there


def test_ready_says_what_the_page_has_to_know(bm25):
    found = bm25.get("/ready").json()
    assert (found["exits"], found["asks"]) == ([0], False)
