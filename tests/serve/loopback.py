"""A server in a thread, on a free port of this machine, for as long as a test needs it."""

import json
import socket
import threading
import time
from contextlib import contextmanager

import httpx
import uvicorn

from cascada.serve import ServerSettings, create_app
from cascada.serve.run import OPTIONS

TIMEOUT = 300
"""Seconds, for a machine that is busy with something else; nothing here takes one."""

BODIES = {
    "/v1/rank": {"question": "hamlet", "candidates": ["a", "b"]},
    "/v1/prune": {"question": "hamlet", "passages": ["a b. c d.", "b"]},
    "/v1/rerank": {"query": "hamlet", "documents": ["a", "b"]},
    "/v2/rerank": {"query": "hamlet", "documents": ["a", "b"], "model": "m"},
    "/rerank": {"query": "hamlet", "texts": ["a", "b"]},
}
"""A valid request for each path that ranks: the question first, then the documents."""


@contextmanager
def serving(ranker, settings=None, *, asker=None):
    app = create_app(ranker, settings or ServerSettings(), asker=asker)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, **OPTIONS))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        wait_until(lambda: server.started)
        with httpx.Client(base_url=url, timeout=TIMEOUT) as http:
            wait_until(lambda: http.get("/ready").status_code == 200)
            yield http
    finally:
        server.should_exit = True
        thread.join(TIMEOUT)
        assert not thread.is_alive()


def wait_until(condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def metric(http, name):
    """The value of a metric, by its full name with labels; 0 if it has none yet."""
    lines = dict(line.rsplit(" ", 1) for line in http.get("/metrics").text.splitlines() if line[0] != "#")
    return float(lines.get(name, 0))


def as_json(content):
    return {"content": content, "headers": {"content-type": "application/json"}}


def message_of(path, response):
    """The error's sentence, from where the path's dialect has it."""
    body = response.json()
    if path == "/rerank":
        assert set(body) == {"error", "error_type"}
        return body["error"]
    if path.endswith("rerank"):
        assert body["message"] == body["detail"]
        return body["message"]
    return body["error"]["message"]


def without_seconds(ranking):
    ranking = json.loads(json.dumps(ranking))
    return ranking | {"stages": [{k: v for k, v in stage.items() if k != "seconds"} for stage in ranking["stages"]]}
