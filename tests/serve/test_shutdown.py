"""A server that is stopped while clients keep coming answers every request that it has accepted."""

import json
import os
import signal
import subprocess
import sys
import threading

import httpx
from held import held_by
from loopback import TIMEOUT, wait_until

CLIENTS, QUEUE = 16, 12


def keep_asking(url, responses):
    """Send requests one after another over one connection, until the server is gone."""
    with httpx.Client(base_url=url, timeout=TIMEOUT) as http:
        while True:
            try:
                response = http.post("/v1/rank", json={"question": "hamlet", "candidates": ["rain", "hamlet", "sun"]})
            except httpx.TransportError:  # the server no longer accepts connections
                return
            responses.append((response.headers["x-request-id"], response.status_code, response.json().get("items")))


def statuses(responses):
    return [status for _, status, _ in list(responses)]


def wait_until_full(responses):
    """Requests that find the queue full get 429 at once."""
    before = statuses(responses).count(429)
    wait_until(lambda: statuses(responses).count(429) > before)


def test_accepted_requests_are_answered(tmp_path):
    hold = tmp_path / "hold"
    hold.touch()
    code = held_by(hold) + "from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "bm25", "--port", "0"]
    command += ["--queue", str(QUEUE), "--batch-tokens", "8"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        lines = map(json.loads, iter(process.stderr.readline, ""))
        port = next(line["port"] for line in lines if line["event"] == "listening")
        responses, logged = [], []
        reader = threading.Thread(target=lambda: logged.extend(lines))
        clients = [
            threading.Thread(target=keep_asking, args=(f"http://127.0.0.1:{port}", responses)) for _ in range(CLIENTS)
        ]
        for thread in (reader, *clients):
            thread.start()
        wait_until_full(responses)
        hold.unlink()
        wait_until(lambda: statuses(responses).count(200) > 60)
        hold.touch()
        wait_until_full(responses)
        os.kill(process.pid, signal.SIGTERM)
        hold.unlink()
        for thread in (*clients, reader):
            thread.join(TIMEOUT)
        assert process.wait(TIMEOUT) == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.stderr.close()
    answered = {line["id"]: line["status"] for line in logged if line["event"] == "request"}
    assert answered == {number: status for number, status, _ in responses}
    assert set(statuses(responses)) == {200, 429}
    assert all([item["index"] for item in items] == [1, 0, 2] for _, status, items in responses if status == 200)
