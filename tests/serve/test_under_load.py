"""Many at once: each gets its own answer, or is told to come again; nobody hangs."""

import asyncio
import json
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from gated_stage import gated
from loopback import PATIENCE, metric, serving, wait_until

from cascada import Ranker
from cascada.client import AsyncClient
from cascada.serve import Settings
from cascada.serve.metrics import Metrics

INSIDE = "cascada_inside_requests"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(16) as pool:
        yield pool


def post(http, question, *, candidates=("a", "bb"), **how):
    return http.post("/v1/rank", json={"question": question, "candidates": list(candidates), **how})


def connected(http):
    """A line to the server on which a request can be written by hand."""
    return socket.create_connection(("127.0.0.1", http.base_url.port), timeout=PATIENCE)


def send(line, body, length):
    head = f"POST /v1/rank HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: {length}\n\n"
    line.sendall(head.replace("\n", "\r\n").encode() + body)


def hang_up(http, when):
    """Ask, and leave without the answer once `when` is true."""
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


class Held:
    """A stage of a real ranker that waits while the gate is closed."""

    def __init__(self, stage):
        self.stage, self.gate = stage, threading.Event()
        self.gate.set()

    def __getattr__(self, name):
        return getattr(self.stage, name)

    def score(self, *given):
        assert self.gate.wait(600)
        return self.stage.score(*given)


def test_each_gets_its_own_answer_whoever_it_was_computed_with(cascade, words):
    requests = list(mixed(words, 60))
    first = Held(cascade.stages[0])

    async def all_at_once(http):
        async with AsyncClient(str(http.base_url), timeout=PATIENCE) as client:
            running = [asyncio.create_task(client.rank(*asked, **how)) for *asked, how in requests]
            try:
                await asyncio.to_thread(wait_until, lambda: metric(http, INSIDE) == len(requests))
            finally:
                first.gate.set()
            return await asyncio.gather(*running)

    with serving(Ranker([first, *cascade.stages[1:]])) as http:
        first.gate.clear()
        answers = asyncio.run(all_at_once(http))
        assert metric(http, "cascada_batch_requests_count") < len(requests), "some were computed together"
    for (question, texts, how), found in zip(requests, answers, strict=True):
        alone = cascade.rank(question, texts, **how)
        assert [item.index for item in found] == [item.index for item in alone]
        assert [item.document for item in found] == [item.document for item in alone]
        for ours, own in zip(found, alone, strict=True):
            assert ours.scores == pytest.approx(own.scores, abs=1e-5)
            assert (ours.exit, ours.truncated) == (own.exit, own.truncated)
        assert (found.relative_cost, found.complete) == (alone.relative_cost, True)


def test_what_waits_with_the_same_plan_is_computed_together(pool):
    ranker, (first, _) = gated(2)
    with serving(ranker) as http:
        first.close()
        running = [pool.submit(post, http, "the first")]
        assert first.entered.wait(PATIENCE)
        for number in range(6):
            running.append(pool.submit(post, http, f"{number}", drop=(0, 0.5)[number % 2]))
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        first.gate.set()
        assert [one.result().status_code for one in running] == [200] * 7
    assert first.seen[-3:] == [("the first",), ("0", "2", "4"), ("1", "3", "5")]


def test_a_batch_stays_within_its_tokens(pool):
    ranker, (stage,) = gated()
    with serving(ranker, Settings(batch_tokens=30)) as http:
        stage.close()
        running = [pool.submit(post, http, "the first")]
        assert stage.entered.wait(PATIENCE)
        for number in range(4):
            running.append(pool.submit(post, http, f"{number}", candidates=["x" * 40]))  # 11 tokens
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        stage.gate.set()
        assert {one.result().status_code for one in running} == {200}
    assert stage.seen[-3:] == [("the first",), ("0", "1"), ("2", "3")]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/rank", lambda body: body["error"]["message"]),
        ("/v1/rerank", lambda body: body["message"]),
        ("/rerank", lambda body: {"Overloaded": body["error"]}[body["error_type"]]),
    ],
)
def test_who_finds_the_queue_full_is_told_at_once_when_to_come_again(pool, path, message):
    ranker, (stage,) = gated()
    with serving(ranker, Settings(queue=3)) as http:
        stage.close()
        accepted = [pool.submit(post, http, f"{number}") for number in range(3)]
        wait_until(lambda: metric(http, INSIDE) == 3)
        started = time.monotonic()
        refused = http.post(path, json={"query": "q", "texts": ["a"], "documents": ["a"]})
        assert time.monotonic() - started < PATIENCE / 2
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert message(refused.json()) == "The server is busy; try again later."
        stage.gate.set()
        assert [one.result().status_code for one in accepted] == [200] * 3
        assert post(http, "again").status_code == 200


def test_a_deadline_counts_the_wait_in_the_queue(pool):
    ranker, (first, second) = gated(2)
    with serving(ranker) as http:
        first.close()
        before = pool.submit(post, http, "before")
        assert first.entered.wait(PATIENCE)
        late = pool.submit(post, http, "late", deadline_ms=50)
        wait_until(lambda: metric(http, "cascada_queue_requests") == 1)
        time.sleep(0.1)
        first.gate.set()
        assert before.result().json()["complete"] is True
        found = late.result().json()
        assert found["complete"] is False
        assert [item["index"] for item in found["items"]] == [1, 0]
        assert ("late",) in first.seen
        assert ("late",) not in second.seen
        assert metric(http, "cascada_incomplete_total") == 1


def test_who_is_late_anyway_is_computed_together(pool):
    """Alone, each would make the others later still."""
    ranker, (first, second) = gated(2)
    with serving(ranker) as http:
        first.close()
        running = [pool.submit(post, http, "before")]
        assert first.entered.wait(PATIENCE)
        for number, wait in enumerate((1, 20, 5)):
            running.append(pool.submit(post, http, f"{number}", deadline_ms=wait))
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        time.sleep(0.05)
        first.gate.set()
        assert [one.result().json()["complete"] for one in running] == [True, False, False, False]
    assert first.seen[-2:] == [("before",), ("0", "1", "2")]
    assert second.seen[-1] == ("before",)


def test_the_server_can_have_a_deadline_for_everyone():
    ranker, _ = gated(2)
    with serving(ranker, Settings(deadline_ms=0.0001)) as http:
        body = http.post("/v2/rerank", json={"model": "m", "query": "q", "documents": ["a"]}).json()
    assert body["complete"] is False
    assert body["meta"]["warnings"] == [
        "The deadline stopped the ranking: this is the best complete order that was known."
    ]


def test_who_went_away_is_not_computed_for(pool):
    ranker, (stage,) = gated()
    with serving(ranker) as http:
        stage.close()
        before = pool.submit(post, http, "before")
        assert stage.entered.wait(PATIENCE)
        hang_up(http, when=lambda: metric(http, "cascada_queue_requests") == 1)
        wait_until(lambda: metric(http, "cascada_gone_total") == 1)
        stage.gate.set()
        assert before.result().status_code == 200
        assert post(http, "after").status_code == 200
    assert ("gone",) not in stage.seen
    assert stage.seen[-2:] == [("before",), ("after",)]


def test_who_goes_away_on_the_way_stops_the_ranking():
    ranker, (first, second) = gated(2)
    with serving(ranker) as http:
        first.close()
        hang_up(http, when=first.entered.is_set)
        wait_until(lambda: metric(http, "cascada_gone_total") == 1)
        first.gate.set()
        assert post(http, "after").status_code == 200
    assert ("gone",) in first.seen
    assert ("gone",) not in second.seen


def test_a_fault_in_one_request_does_not_touch_those_beside_it(pool):
    ranker, (stage,) = gated()
    with serving(ranker) as http:
        stage.close()
        running = [pool.submit(post, http, "the first")]
        assert stage.entered.wait(PATIENCE)
        for question in ("fine", "fault", "good"):
            running.append(pool.submit(post, http, question))
            wait_until(lambda: metric(http, "cascada_queue_requests") == len(running) - 1)
        stage.gate.set()
        assert [one.result().status_code for one in running] == [200, 200, 500, 200]
        assert running[2].result().json()["error"]["type"] == "failed"
        assert running[2].result().headers["x-request-id"]


def test_what_goes_wrong_in_the_ranker_is_no_mistake_of_the_users():
    with serving(gated()[0]) as http:
        refused = post(http, "damaged")
        assert post(http, "after").status_code == 200
    assert (refused.status_code, refused.json()["error"]["type"]) == (500, "failed")
    assert "secret" not in refused.text


def test_a_batch_that_fails_in_an_unforeseen_way_does_not_stop_the_next(monkeypatch):
    ranker, _ = gated()
    with serving(ranker) as http:
        with monkeypatch.context() as broken:
            broken.setattr(Metrics, "ranked", lambda self, rankings: 1 / 0)
            assert post(http, "answered").status_code == 200
        assert post(http, "after").status_code == 200


def test_a_body_that_does_not_come_is_given_up_on():
    ranker, _ = gated()
    with serving(ranker, Settings(read_seconds=0.3)) as http:
        with connected(http) as line:
            send(line, b"{", length=100)
            assert line.recv(1000).startswith(b"HTTP/1.1 408")
        wait_until(lambda: metric(http, INSIDE) == 0)
