"""A server that is stopped while clients keep coming answers what it has accepted, unless that takes too long."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading

import httpx
import pytest
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


def held_server(hold, *options):
    """A server whose rankings wait for the file, and the port that it listens on."""
    code = held_by(hold) + "from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "bm25", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    return process, json.loads(process.stderr.readline())["port"]


def test_accepted_requests_are_answered(tmp_path):
    hold = tmp_path / "hold"
    hold.touch()
    process, port = held_server(hold, "--queue", str(QUEUE), "--batch-tokens", "8")
    try:
        lines = map(json.loads, iter(process.stderr.readline, ""))
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


@pytest.mark.parametrize(
    ("options", "signals", "code", "event"),
    [
        (["--shutdown-seconds", "0.2"], 1, 1, "shutdown timed out"),
        ([], 2, 128 + signal.SIGTERM, "ended by a second signal"),
    ],
    ids=["time-out", "second signal"],
)
def test_a_ranking_that_does_not_end_cannot_hold_the_process(tmp_path, options, signals, code, event):
    hold = tmp_path / "hold"
    process, port = held_server(hold, *options)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: httpx.get(f"{url}/ready", timeout=TIMEOUT).status_code == 200)
        hold.touch()
        with socket.create_connection(("127.0.0.1", port)) as client:
            body = b'{"question": "hamlet", "candidates": ["rain"]}'
            head = b"POST /v1/rank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            client.sendall(head % len(body) + body)
            wait_until(lambda: "inside_requests 1.0" in httpx.get(f"{url}/metrics", timeout=TIMEOUT).text)
            process.terminate()
            if signals == 2:
                wait_until(lambda: not accepts(port))  # the first signal has been handled
                process.terminate()
            assert process.wait(10) == code
        last = json.loads(process.stderr.readlines()[-1])
        assert (last["event"], last["unanswered"]) == (event, 1)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
