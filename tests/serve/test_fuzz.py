"""Thousands of bodies, each with something wrong with it: all are refused, in the dialect's own shape."""

import asyncio
import json
import random

import httpx
from loopback import told

from cascada import Ranker
from cascada.serve import create_app

BODIES = 3000

GOOD = {
    "/v1/rank": {"question": "who?", "candidates": ["a", {"text": "b"}], "top": 1, "drop": 0.3, "deadline_ms": 50},
    "/v1/rerank": {"query": "who?", "documents": ["a", {"text": "b"}], "top_n": 1, "return_documents": True},
    "/v2/rerank": {"model": "m", "query": "who?", "documents": ["a", "b"], "top_n": 2, "rank_fields": ["text"]},
    "/rerank": {"query": "who?", "texts": ["a", "b"], "raw_scores": False, "return_text": True, "truncate": True},
}
NEEDED = ("question", "query", "candidates", "documents", "texts")
BAD = {
    "question": ["", " ", None, 3, [], {}, ["who?"], "\ud800", "q" * 3000],
    "candidates": ["a", None, 3, [], [1], [None], [[]], [{}], [{"text": 3}], ["\udfff"], ["a"] * 1001, {"0": "a"}],
    "top": [0, -1, 1.5, "2", [], True, -(10**30)],
    "drop": [-0.1, 1, 2, "much", True, {}, ["a"], [0.1, 0.2, 0.3], [None]],
    "keep": [[0], [-1], [1.5], ["a"], 3, "3", {}, [1, 2, 3]],
    "deadline_ms": [0, -1, "soon", True, [], {}],
    "return_documents": ["yes", 3, []],
    "rank_fields": ["text", [1], {}, 3],
    "model": [3, [], {}],
}
SAME = {"query": "question", "documents": "candidates", "texts": "candidates", "top_n": "top"}
SAME |= {"raw_scores": "return_documents", "return_text": "return_documents", "truncate": "return_documents"}


def written(body):
    return json.dumps(body).encode()


def cut_short(body, choice):
    whole = written(body)
    return whole[: choice.randrange(len(whole))]


def with_a_broken_character(body, choice):
    whole = bytearray(written(body))
    whole[choice.randrange(len(whole))] = choice.randrange(0x80, 0x100)
    return bytes(whole)


def without_what_is_needed(body, choice):
    gone = choice.choice([name for name in body if name in NEEDED])
    return written({name: value for name, value in body.items() if name != gone})


def with_a_bad_value(body, choice):
    name = choice.choice([*body, "drop", "keep", "deadline_ms"])
    return written(body | {name: choice.choice(BAD[SAME.get(name, name)])})


def with_something_that_json_has_not(body, choice):
    odd = choice.choice(
        [b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 99 + b"]" * 99, b"'a'", b"undefined", b"01"]
    )
    return written(body)[:-1] + b', "more": ' + odd + b"}"


def not_an_object(body, choice):
    return written(choice.choice([None, True, 3, "who?", [], [body], []]))


def any_bytes(body, choice):
    return choice.randbytes(choice.randrange(60))


WAYS = [
    cut_short, with_a_broken_character, without_what_is_needed, with_a_bad_value, with_a_bad_value,
    with_something_that_json_has_not, not_an_object, any_bytes,
]  # fmt: skip


def bodies():
    choice = random.Random(17)
    for _ in range(BODIES):
        path = choice.choice(list(GOOD))
        way = choice.choice(WAYS)
        yield path, way, way(GOOD[path], choice)


def test_every_body_with_something_wrong_is_refused_in_json():
    app = create_app(Ranker.load("bm25"))

    async def all_of_them():
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://x") as http,
        ):
            for path, way, content in bodies():
                refused = await http.post(path, content=content, headers={"content-type": "application/json"})
                assert refused.status_code in (400, 413, 422), (path, way, content[:200], refused.text)
                assert told(path, refused).endswith("."), (path, way, content[:200], refused.text)

    asyncio.run(all_of_them())
