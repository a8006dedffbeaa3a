"""What an operator sees: logs and metrics, never what users wrote."""

import json
import logging
import socket

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
    unwritten = ("httpx", "httpx2", "uvicorn.access")  # the clients, and what goes to no handler
    return lambda: [JsonFormatter().format(record) for record in caplog.records if record.name not in unwritten]


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


UPGRADE = f"""GET /{SECRET}?{SECRET}=1 HTTP/1.1
Host: localhost
Connection: Upgrade
Upgrade: websocket
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==
Content-Length: 5

hello""".replace("\n", "\r\n").encode()


def test_a_websocket_upgrade_is_answered_like_any_other_request_and_not_logged_with_its_path(bm25, lines):
    with socket.create_connection(("127.0.0.1", bm25.base_url.port), timeout=10) as client:
        client.sendall(UPGRADE)
        assert client.recv(1000).startswith(b"HTTP/1.1 404 ")
    wait_until(lambda: any('"status": 404' in line for line in lines()))
    assert SECRET not in "\n".join(lines())


def test_polls_while_the_model_warms_up_are_not_logged(lines):
    ranker, (stage,) = gated()
    stage.close()
    with TestClient(create_app(ranker)) as http:
        assert http.get("/ready").status_code == 503
        stage.gate.set()
    assert [line for line in lines() if "/ready" in line] == []


def test_the_description_is_counted_by_its_path(bm25):
    before = metric(bm25, 'cascada_requests_total{route="/openapi.json",status="200"}')
    assert bm25.get("/openapi.json").json()["info"]["title"] == "cascada"
    assert metric(bm25, 'cascada_requests_total{route="/openapi.json",status="200"}') == before + 1


@pytest.mark.parametrize("path", ["/", "/page.js", "/health", "/openapi.json", "/metrics", "/missing", "/v1/rank"])
def test_no_browser_guesses_the_type_of_a_response(bm25, path):
    assert bm25.get(path).headers.get_list("x-content-type-options") == ["nosniff"]
