"""A server that is told to end while clients keep coming: whom it let in, it answers."""

import json
import os
import signal
import subprocess
import sys
import threading

import httpx
from held import held_by
from loopback import PATIENCE, wait_until

CLIENTS, INSIDE = 16, 12


def keep_asking(url, told):
    """One after another over one connection, until the server is gone."""
    with httpx.Client(base_url=url, timeout=PATIENCE) as http:
        while True:
            try:
                found = http.post("/v1/rank", json={"question": "hamlet", "candidates": ["rain", "hamlet", "sun"]})
            except httpx.TransportError:  # nobody there to let it in
                return
            told.append((found.headers["x-request-id"], found.status_code, found.json().get("items")))


def statuses(told):
    return [status for _, status, _ in list(told)]


def wait_until_full(told):
    """Clients that are not let in are told so at once."""
    before = statuses(told).count(429)
    wait_until(lambda: statuses(told).count(429) > before)


def test_who_was_let_in_is_answered(tmp_path):
    hold = tmp_path / "hold"
    hold.touch()
    code = held_by(hold) + "from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "bm25", "--port", "0"]
    command += ["--queue", str(INSIDE), "--batch-tokens", "8"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        lines = map(json.loads, iter(process.stderr.readline, ""))
        port = next(line["port"] for line in lines if line["event"] == "listening")
        told, logged = [], []
        reader = threading.Thread(target=lambda: logged.extend(lines))
        clients = [
            threading.Thread(target=keep_asking, args=(f"http://127.0.0.1:{port}", told)) for _ in range(CLIENTS)
        ]
        for thread in (reader, *clients):
            thread.start()
        wait_until_full(told)
        hold.unlink()
        wait_until(lambda: statuses(told).count(200) > 60)
        hold.touch()
        wait_until_full(told)
        os.kill(process.pid, signal.SIGTERM)
        hold.unlink()
        for thread in (*clients, reader):
            thread.join(PATIENCE)
        assert process.wait(PATIENCE) == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.stderr.close()
    answered = {line["id"]: line["status"] for line in logged if line["event"] == "request"}
    assert answered == {number: status for number, status, _ in told}
    assert set(statuses(told)) == {200, 429}
    assert all([item["index"] for item in items] == [1, 0, 2] for _, status, items in told if status == 200)
