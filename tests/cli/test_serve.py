"""`cascada serve`, as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
from held import held_by

PATIENCE = 300
BODY = {"question": "who wrote hamlet?", "candidates": ["It rained.", "Shakespeare wrote Hamlet."]}


@contextmanager
def served(*arguments, before="", **environment):
    """A server's URL and process; its log is read until it listens, and the process is ended by its id."""
    code = before + "from cascada.cli.main import main; main()"
    command = [sys.executable, "-c", code, "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | environment)
    try:
        lines = iter(process.stderr.readline, "")
        port = next(line["port"] for line in map(json.loads, lines) if line["event"] == "listening")
        yield f"http://127.0.0.1:{port}", process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        process.stderr.close()


def ready(url):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with_answer = httpx.get(f"{url}/ready", timeout=PATIENCE)
        if with_answer.status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError("the server did not become ready")


def failed(*arguments):
    command = [sys.executable, "-m", "cascada.cli.main", "serve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def test_accepted_requests_are_finished_when_the_server_is_stopped(tmp_path):
    found, hold = [], tmp_path / "hold"

    def ask(number):
        found.append(httpx.post(f"{url}/v1/rank", json=BODY | {"top": 1 + number % 2}, timeout=PATIENCE))

    with served("bm25", "--batch-tokens", "1", before=held_by(hold)) as (url, process):
        ready(url)
        hold.touch()
        clients = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for client in clients:
            client.start()
        end = time.monotonic() + PATIENCE
        while "cascada_inside_requests 6.0" not in httpx.get(f"{url}/metrics", timeout=PATIENCE).text:
            assert time.monotonic() < end
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGTERM)
        hold.unlink()
        for client in clients:
            client.join(PATIENCE)
        assert process.wait(PATIENCE) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")
    assert [one.status_code for one in found] == [200] * 6
    assert {one.json()["items"][0]["index"] for one in found} == {1}


def test_keys_come_from_the_variable_and_limits_from_options():
    with served("bm25", "--max-documents", "1", CASCADA_API_KEY="key") as (url, _):
        assert httpx.post(f"{url}/v1/rank", json=BODY, timeout=PATIENCE).status_code == 401
        key = {"authorization": "Bearer key"}
        assert httpx.post(f"{url}/v1/rank", json=BODY, headers=key, timeout=PATIENCE).status_code == 413


def test_an_index_is_asked(tmp_path):
    from cascada.search import Index

    (tmp_path / "plays.txt").write_text("It rained. Shakespeare wrote Hamlet. It was late.")
    Index(tmp_path / "index", create=True).update([tmp_path / "plays.txt"])
    with served("--index", str(tmp_path / "index")) as (url, _):
        found = httpx.post(f"{url}/v1/ask", json={"question": "who wrote hamlet?", "top": 1}, timeout=PATIENCE).json()
    (answer,) = found["answers"]
    assert (answer["text"], answer["start"], found["complete"]) == ("Shakespeare wrote Hamlet.", 11, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missing-folder"], "missing-folder"),
        (["--drop", "2"], "drop is 2.0; a drop ratio is a number from 0 to below 1."),
        (["--index", "missing-index"], "missing-index"),
        (["--keys", "missing-file"], "The keys in missing-file cannot be read"),
        (["--deadline-ms", "-1"], "deadline_ms is -1.0; it must be a number above 0."),
        (["--host", "256.0.0.1"], "Cannot listen on 256.0.0.1, port 8080"),
    ],
    ids=["model", "drop", "index", "keys", "deadline", "host"],
)
def test_a_mistake_is_one_sentence(arguments, sentence):
    done = failed(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert sentence in done.stderr
