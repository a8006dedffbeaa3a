"""What an operator sees: logs and metrics, never what users wrote."""

import json
import logging

import pytest
from fastapi.testclient import TestClient
from gated_stage import gated
from loopback import metric, serving, wait_until

from cascada.serve import create_app
from cascada.serve.logs import JsonFormatter

SECRET = "xyzzy"


@pytest.fixture
def lines(caplog):
    """The log's lines, as they are written."""
    caplog.set_level(logging.INFO)
    return lambda: [JsonFormatter().format(record) for record in caplog.records if record.name != "httpx"]


def test_the_log_has_every_request_but_nothing_that_users_wrote(lines):
    ranker, _ = gated()
    with serving(ranker) as http:
        response = http.post("/v1/rank", json={"question": SECRET, "candidates": [f"{SECRET}!"]})
        http.post("/v1/rank", json={"question": [SECRET], "candidates": SECRET})
        http.post("/v1/rank", content=SECRET, headers={"content-type": SECRET})
        http.get(f"/{SECRET}", params={SECRET: SECRET})
        assert http.post("/v1/rank", json={"question": "fault", "candidates": [SECRET]}).status_code == 500
    text = "\n".join(lines())
    assert SECRET not in text
    assert "secret" not in text
    events = [json.loads(line) for line in lines()]
    (first,) = (event for event in events if event.get("id") == response.headers["x-request-id"])
    assert (first["event"], first["route"], first["status"], first["candidates"]) == ("request", "/v1/rank", 200, 1)
    assert [event["status"] for event in events if event["event"] == "request"] == [200, 422, 415, 404, 500]
    assert any(event.get("error") == "RuntimeError" and "gated_stage.py" in event["at"][-1] for event in events)


def test_metrics_count_batches_drops_and_operations_saved():
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
