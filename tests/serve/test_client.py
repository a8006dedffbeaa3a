"""The client: rankings of a server as if they were made here."""

import asyncio
import socket
import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from gated_stage import gated
from loopback import serving

from cascada import Ranker
from cascada.client import AsyncClient, Client, ServerError, _ranking
from cascada.serve import Keys, Settings

DOCUMENTS = [{"text": "It rained.", "id": 1}, "Shakespeare wrote Hamlet."]


@pytest.fixture(scope="module")
def locked():
    with serving(Ranker.load("bm25"), Settings(keys=Keys.of("key"))) as http:
        yield str(http.base_url)


def test_a_ranking_is_the_rankers_own(locked):
    with Client(locked, key="key") as client:
        assert client.rank("who wrote hamlet?", DOCUMENTS) == Ranker.load("bm25").rank("who wrote hamlet?", DOCUMENTS)


def test_a_ranking_can_be_awaited(locked):
    async def ask():
        async with AsyncClient(locked, key="key") as client:
            return await asyncio.gather(*(client.rank("hamlet", DOCUMENTS, top=1) for _ in range(5)))

    assert asyncio.run(ask()) == [Ranker.load("bm25").rank("hamlet", DOCUMENTS, top=1)] * 5


def test_drops_and_deadlines_are_handed_on():
    with serving(gated(2)[0]) as http, Client(str(http.base_url)) as client:
        assert client.rank("q", ["a", "bb", "ccc"], keep=[1]).stages[1].candidates == 1
        assert client.rank("q", ["a", "bb"], deadline_ms=0.001).complete is False


def test_a_ratio_may_be_exact():
    with serving(gated(2)[0]) as http, Client(str(http.base_url)) as client:
        assert client.rank("q", ["a", "bb", "ccc", "dddd"], drop=Decimal("0.5")).stages[1].candidates == 2


def test_an_address_that_is_none_is_told_in_a_sentence():
    with pytest.raises(ServerError, match=r"\[::1 is no address"):
        Client("http://[::1")


def test_what_a_newer_server_says_beside_is_left_out():
    item = {"index": 0, "text": "a", "score": 0.5, "raw_score": 0.0, "exit": 0, "scores": [0.0], "truncated": False}
    stage = {"exit": 0, "candidates": 1, "flops": 0, "seconds": 0.1}
    found = {"items": [item | {"new": 1}], "stages": [stage | {"new": 1}]}
    found |= {"relative_cost": 1.0, "full_flops": 0, "complete": True}
    assert _ranking("q", ["a"], found)[0].document == "a"
    with pytest.raises(ServerError, match="no ranking: KeyError 'stages'"):
        _ranking("q", ["a"], {name: value for name, value in found.items() if name != "stages"})


def test_a_refusal_is_the_servers_sentence(locked):
    with Client(locked, key="wrong") as client, pytest.raises(ServerError, match="key is missing or wrong") as caught:
        client.rank("q", ["a"])
    assert caught.value.status == 401


def test_a_busy_server_says_how_long_to_wait():
    ranker, (stage,) = gated()
    with serving(ranker, Settings(queue=1)) as http:
        stage.close()

        async def two():
            async with AsyncClient(str(http.base_url)) as client:
                first = asyncio.create_task(client.rank("q", ["a"]))
                while not stage.entered.is_set():
                    await asyncio.sleep(0.01)
                with pytest.raises(ServerError, match="busy") as caught:
                    await client.rank("q", ["a"])
                stage.gate.set()
                return await first, caught.value

        first, refused = asyncio.run(two())
    assert first.complete
    assert (refused.status, refused.retry_after >= 1) == (429, True)


@pytest.mark.parametrize("content", [b"<p>Welcome</p>", b"[]", b'{"results": []}'])
def test_a_server_that_is_another_is_told_in_a_sentence(content):
    class Other(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{other.server_port}"
        with Client(url) as client, pytest.raises(ServerError, match="is not a Cascada server"):
            client.rank("q", ["a"])


def test_a_server_that_is_not_there_is_told_in_a_sentence():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # ours, but nobody listens
        with (
            Client(f"http://127.0.0.1:{silent.getsockname()[1]}") as client,
            pytest.raises(ServerError, match="could not be reached"),
        ):
            client.rank("q", ["a"])
