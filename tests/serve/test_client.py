"""The client returns what a local ranker would."""

import asyncio
import socket
import threading
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from gated_stage import gated
from loopback import serving

from cascada import Ranker
from cascada.client import AsyncClient, Client, ServerError, _answers, _ranking
from cascada.search import Asker, MemoryRetriever, Passage
from cascada.serve import ApiKeys, ServerSettings

DOCUMENTS = [{"text": "It rained.", "id": 1}, "Shakespeare wrote Hamlet."]


@pytest.fixture(scope="module")
def locked():
    with serving(Ranker.load("bm25"), ServerSettings(keys=ApiKeys.of("key"))) as http:
        yield str(http.base_url)


def test_a_ranking_is_the_rankers_own(locked):
    with Client(locked, key="key") as client:
        assert client.rank("who wrote hamlet?", DOCUMENTS) == Ranker.load("bm25").rank("who wrote hamlet?", DOCUMENTS)


@pytest.fixture(scope="module")
def asker():
    text = "It rained. Shakespeare wrote Hamlet. It was late."
    return Asker(MemoryRetriever([Passage(text, "plays.txt", 0, len(text), line=1)]), Ranker.load("bm25"))


def test_answers_are_the_askers_own(asker):
    async def ask_async(url):
        async with AsyncClient(url) as client:
            return await client.ask("who wrote hamlet?", top=1)

    with serving(asker.ranker, asker=asker) as http, Client(str(http.base_url)) as client:
        answers = client.ask("who wrote hamlet?", top=2, paragraphs=5, drop=0.0, deadline_ms=60_000)
        first = asyncio.run(ask_async(str(http.base_url)))
    local = asker.ask("who wrote hamlet?", top=2)
    assert without_times(answers) == without_times(local)
    assert (answers[0].text, answers[0].place) == ("Shakespeare wrote Hamlet.", "plays.txt, line 1")
    assert [answer.text for answer in first] == ["Shakespeare wrote Hamlet."]
    assert str(answers) == str(local)


def without_times(answers):
    return {key: value for key, value in answers.to_dict().items() if key != "seconds"}


def test_a_short_answer_is_kept():
    passage = {"text": "It is by Shakespeare.", "start": 0, "end": 21, "score": 1.0}
    short = {"text": "Shakespeare", "start": 9, "end": 20, "score": 0.9, "new": 1}
    where = {"document": "plays.txt", "line": None, "page": 3}
    answer = {
        "text": passage["text"],
        "start": 0,
        "end": 21,
        "score": 0.8,
        "answer": short,
        "passage": passage,
        **where,
    }
    answers = _answers({"question": "who?", "answers": [answer], "new": 1})
    assert (answers[0].short.text, answers[0].place) == ("Shakespeare", "plays.txt, page 3")
    with pytest.raises(ServerError, match="holds no answers: KeyError 'passage'"):
        _answers({"question": "who?", "answers": [{"text": "It is by Shakespeare."}]})


def test_a_ranking_can_be_awaited(locked):
    async def rank_five():
        async with AsyncClient(locked, key="key") as client:
            return await asyncio.gather(*(client.rank("hamlet", DOCUMENTS, top=1) for _ in range(5)))

    assert asyncio.run(rank_five()) == [Ranker.load("bm25").rank("hamlet", DOCUMENTS, top=1)] * 5


def test_drops_and_deadlines_are_passed_on():
    with serving(gated(2)[0]) as http, Client(str(http.base_url)) as client:
        assert client.rank("q", ["a", "bb", "ccc"], keep=[1]).stages[1].candidates == 1
        assert client.rank("q", ["a", "bb"], deadline_ms=0.001).complete is False


def test_a_drop_ratio_may_be_a_decimal():
    with serving(gated(2)[0]) as http, Client(str(http.base_url)) as client:
        assert client.rank("q", ["a", "bb", "ccc", "dddd"], drop=Decimal("0.5")).stages[1].candidates == 2


def test_an_invalid_address_is_an_error():
    with pytest.raises(ServerError, match=r"\[::1 is not the address"):
        Client("http://[::1")


def test_additional_keys_of_a_newer_server_are_ignored():
    item = {"index": 0, "text": "a", "score": 0.5, "raw_score": 0.0, "exit": 0, "scores": [0.0], "truncated": False}
    stage = {"exit": 0, "candidates": 1, "flops": 0, "seconds": 0.1}
    content = {"items": [item | {"new": 1}], "stages": [stage | {"new": 1}]}
    content |= {"relative_cost": 1.0, "full_flops": 0, "complete": True}
    assert _ranking("q", ["a"], content)[0].document == "a"
    with pytest.raises(ServerError, match="not a ranking: KeyError 'stages'"):
        _ranking("q", ["a"], {name: value for name, value in content.items() if name != "stages"})


def test_an_error_response_raises_the_servers_sentence(locked):
    with Client(locked, key="wrong") as client, pytest.raises(ServerError, match="key is missing or wrong") as caught:
        client.rank("q", ["a"])
    assert caught.value.status == 401


def test_a_busy_server_says_how_long_to_wait():
    ranker, (stage,) = gated()
    with serving(ranker, ServerSettings(queue=1)) as http:
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

        first, rejected = asyncio.run(two())
    assert first.complete
    assert (rejected.status, rejected.retry_after >= 1) == (429, True)


@pytest.mark.parametrize("content", [b"<p>Welcome</p>", b"[]", b'{"results": []}'])
def test_a_server_that_is_not_cascada_is_an_error(content):
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


def test_a_server_that_does_not_listen_is_an_error():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # reserved, but nothing listens
        with (
            Client(f"http://127.0.0.1:{silent.getsockname()[1]}") as client,
            pytest.raises(ServerError, match="could not be reached"),
        ):
            client.rank("q", ["a"])
