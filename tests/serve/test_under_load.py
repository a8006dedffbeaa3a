"""Many requests at once: each gets its own response, or is told to retry; none hangs."""

import asyncio
import json
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from gated_stage import gated
from loopback import TIMEOUT, metric, serving, wait_until

from cascada import Ranker
from cascada.client import AsyncClient
from cascada.serve import ServerSettings
from cascada.serve.metrics import Metrics

IN_FLIGHT = "cascada_inside_requests"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(16) as pool:
        yield pool


def post(http, question, *, candidates=("a", "bb"), **options):
    return http.post("/v1/rank", json={"question": question, "candidates": list(candidates), **options})


def connected(http):
    """A connection to the server on which a request can be written by hand."""
    return socket.create_connection(("127.0.0.1", http.base_url.port), timeout=TIMEOUT)


def send(line, body, length):
    head = f"POST /v1/rank HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: {length}\n\n"
    line.sendall(head.replace("\n", "\r\n").encode() + body)


def hang_up(http, when):
    """Send a request, and disconnect without the response once `when` is true."""
    body = json.dumps({"question": "gone", "candidates": ["a"]}).encode()
    with connected(http) as line:
        send(line, body, len(body))
        wait_until(when)


def mixed(words, count):
    """Requests of all kinds, from a fixed seed."""
    choice = random.Random(7)
    plans = [{}, {"drop": 0.3}, {"drop": 0.5}, {"keep": [3]}, {"top": 2}, {"deadline_ms": 600_000}]
    for _ in range(count):
        texts = [" ".join(choice.choices(words, k=choice.randint(1, 30))) for _ in range(choice.randint(1, 25))]
        yield " ".join(choice.choices(words, k=3)), texts, choice.choice(plans)


class BlockedStage:
    """A stage of a real ranker that waits while the gate is closed."""

    def __init__(self, stage):
        self.stage, self.gate = stage, threading.Event()
        self.gate.set()

    def __getattr__(self, name):
        return getattr(self.stage, name)

    def score(self, *arguments):
        assert self.gate.wait(600)
        return self.stage.score(*arguments)


def test_each_request_gets_its_own_response_whatever_batch_it_was_in(cascade, words):
    requests = list(mixed(words, 60))
    first = BlockedStage(cascade.stages[0])

    async def all_at_once(http):
        async with AsyncClient(str(http.base_url), timeout=TIMEOUT) as client:
            running = [asyncio.create_task(client.rank(*group, **options)) for *group, options in requests]
            try:
                await asyncio.to_thread(wait_until, lambda: metric(http, IN_FLIGHT) == len(requests))
            finally:
                first.gate.set()
            return await asyncio.gather(*running)

    with serving(Ranker([first, *cascade.stages[1:]])) as http:
        first.gate.clear()
        rankings = asyncio.run(all_at_once(http))
        assert metric(http, "cascada_batch_requests_count") < len(requests), "some shared a batch"
    for (question, texts, options), ranking in zip(requests, rankings, strict=True):
        local = cascade.rank(question, texts, **options)
        assert [item.index for item in ranking] == [item.index for item in local]
        assert [item.document for item in ranking] == [item.document for item in local]
        for item, expected in zip(ranking, local, strict=True):
            assert item.scores == pytest.approx(expected.scores, abs=1e-5)
            assert (item.exit, item.truncated) == (expected.exit, expected.truncated)
        assert (ranking.relative_cost, ranking.complete) == (local.relative_cost, True)


def test_waiting_requests_with_the_same_plan_share_a_batch(pool):
    ranker, (first, _) = gated(2)
    with serving(ranker) as http:
        first.close()
        running = [pool.submit(post, http, "the first")]
        assert first.entered.wait(TIMEOUT)
        for number in range(6):
            running.append(pool.submit(post, http, f"{number}", drop=(0, 0.5)[number % 2]))
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        first.gate.set()
        assert [future.result().status_code for future in running] == [200] * 7
    assert first.seen[-3:] == [("the first",), ("0", "2", "4"), ("1", "3", "5")]


def test_a_batch_stays_within_its_token_budget(pool):
    ranker, (stage,) = gated()
    with serving(ranker, ServerSettings(batch_tokens=30)) as http:
        stage.close()
        running = [pool.submit(post, http, "the first")]
        assert stage.entered.wait(TIMEOUT)
        for number in range(4):
            running.append(pool.submit(post, http, f"{number}", candidates=["x" * 40]))  # 11 tokens
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        stage.gate.set()
        assert {future.result().status_code for future in running} == {200}
    assert stage.seen[-3:] == [("the first",), ("0", "1"), ("2", "3")]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/rank", lambda body: body["error"]["message"]),
        ("/v1/rerank", lambda body: body["message"]),
        ("/rerank", lambda body: {"Overloaded": body["error"]}[body["error_type"]]),
    ],
)
def test_a_request_that_finds_the_queue_full_gets_429_at_once(pool, path, message):
    ranker, (stage,) = gated()
    with serving(ranker, ServerSettings(queue=3)) as http:
        stage.close()
        accepted = [pool.submit(post, http, f"{number}") for number in range(3)]
        wait_until(lambda: metric(http, IN_FLIGHT) == 3)
        started = time.monotonic()
        rejected = http.post(path, json={"query": "q", "texts": ["a"], "documents": ["a"]})
        assert time.monotonic() - started < TIMEOUT / 2
        assert rejected.status_code == 429
        assert 1 <= int(rejected.headers["retry-after"]) <= 30
        assert message(rejected.json()) == "The server is busy; try again later."
        stage.gate.set()
        assert [future.result().status_code for future in accepted] == [200] * 3
        assert post(http, "again").status_code == 200


def test_a_deadline_counts_the_wait_in_the_queue(pool):
    ranker, (first, second) = gated(2)
    with serving(ranker) as http:
        first.close()
        before = pool.submit(post, http, "before")
        assert first.entered.wait(TIMEOUT)
        late = pool.submit(post, http, "late", deadline_ms=50)
        wait_until(lambda: metric(http, "cascada_queue_requests") == 1)
        time.sleep(0.1)
        first.gate.set()
        assert before.result().json()["complete"] is True
        ranking = late.result().json()
        assert ranking["complete"] is False
        assert [item["index"] for item in ranking["items"]] == [1, 0]
        assert ("late",) in first.seen
        assert ("late",) not in second.seen
        assert metric(http, "cascada_incomplete_total") == 1


def test_requests_that_are_already_late_share_a_batch(pool):
    """Alone, each would make the others later still."""
    ranker, (first, second) = gated(2)
    with serving(ranker) as http:
        first.close()
        running = [pool.submit(post, http, "before")]
        assert first.entered.wait(TIMEOUT)
        for number, wait in enumerate((1, 20, 5)):
            running.append(pool.submit(post, http, f"{number}", deadline_ms=wait))
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        time.sleep(0.05)
        first.gate.set()
        assert [future.result().json()["complete"] for future in running] == [True, False, False, False]
    assert first.seen[-2:] == [("before",), ("0", "1", "2")]
    assert second.seen[-1] == ("before",)


def test_the_server_can_have_a_deadline_for_every_request():
    ranker, _ = gated(2)
    with serving(ranker, ServerSettings(deadline_ms=0.0001)) as http:
        body = http.post("/v2/rerank", json={"model": "m", "query": "q", "documents": ["a"]}).json()
    assert body["complete"] is False
    assert body["meta"]["warnings"] == [
        "The deadline stopped the ranking: this is the best complete order known so far."
    ]


def test_a_request_whose_client_disconnected_is_not_computed(pool):
    ranker, (stage,) = gated()
    with serving(ranker) as http:
        stage.close()
        before = pool.submit(post, http, "before")
        assert stage.entered.wait(TIMEOUT)
        hang_up(http, when=lambda: metric(http, "cascada_queue_requests") == 1)
        wait_until(lambda: metric(http, "cascada_gone_total") == 1)
        stage.gate.set()
        assert before.result().status_code == 200
        assert post(http, "after").status_code == 200
    assert ("gone",) not in stage.seen
    assert stage.seen[-2:] == [("before",), ("after",)]


def test_a_client_that_disconnects_stops_its_ranking():
    ranker, (first, second) = gated(2)
    with serving(ranker) as http:
        first.close()
        hang_up(http, when=first.entered.is_set)
        wait_until(lambda: metric(http, "cascada_gone_total") == 1)
        first.gate.set()
        assert post(http, "after").status_code == 200
    assert ("gone",) in first.seen
    assert ("gone",) not in second.seen


def test_an_error_in_one_request_does_not_affect_others_in_its_batch(pool):
    ranker, (stage,) = gated()
    with serving(ranker) as http:
        stage.close()
        running = [pool.submit(post, http, "the first")]
        assert stage.entered.wait(TIMEOUT)
        for question in ("fine", "fault", "good"):
            running.append(pool.submit(post, http, question))
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        stage.gate.set()
        assert [future.result().status_code for future in running] == [200, 200, 500, 200]
        assert running[2].result().json()["error"]["type"] == "failed"
        assert running[2].result().headers["x-request-id"]


def test_an_error_in_the_ranker_is_not_the_clients_mistake():
    with serving(gated()[0]) as http:
        rejected = post(http, "damaged")
        assert post(http, "after").status_code == 200
    assert (rejected.status_code, rejected.json()["error"]["type"]) == (500, "failed")
    assert "secret" not in rejected.text


def test_a_batch_that_fails_unexpectedly_does_not_stop_the_next(monkeypatch):
    ranker, _ = gated()
    with serving(ranker) as http:
        with monkeypatch.context() as broken:
            broken.setattr(Metrics, "record_batch", lambda self, rankings: 1 / 0)
            assert post(http, "answered").status_code == 200
        assert post(http, "after").status_code == 200


def test_a_body_that_does_not_arrive_gets_408():
    ranker, _ = gated()
    with serving(ranker, ServerSettings(read_seconds=0.3)) as http:
        with connected(http) as line:
            send(line, b"{", length=100)
            assert line.recv(1000).startswith(b"HTTP/1.1 408")
        wait_until(lambda: metric(http, IN_FLIGHT) == 0)
