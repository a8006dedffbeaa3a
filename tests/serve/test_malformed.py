"""Whatever is sent, the answer is JSON in the dialect's own shape, and never a fault of the server's."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import as_json, told

PATHS = ["/v1/rank", "/v1/rerank", "/v2/rerank", "/rerank", "/v1/ask"]

BODIES = {
    "nothing": (400, b""),
    "no json": (400, b'{"query": '),
    "not utf-8": (400, b'{"query": "\xff\xfe"}'),
    "not a number": (400, b'{"query": NaN}'),
    "too large a number": (400, b'{"query": 1e999}'),
    "too many digits": (400, b'{"query": ' + b"9" * 5000 + b"}"),
    "deep": (400, b'{"query": ' + b"[" * 40 + b"]" * 40 + b"}"),
    "bottomless": (400, b"[" * 200_000),
    "null": (422, b"null"),
    "a list": (422, b"[]"),
    "a string": (422, b'"question"'),
    "an empty object": (422, b"{}"),
}

WRONG = [
    ("question", 5),
    ("question", ["who?"]),
    ("question", "\ud800"),
    ("texts", "one text"),
    ("texts", [1, 2]),
    ("texts", [None]),
    ("texts", ["a", ["b"]]),
    ("texts", ["\udfff"]),
    ("drop", "much"),
    ("drop", True),
    ("keep", [1.5]),
    ("deadline_ms", "soon"),
    ("deadline_ms", 0),
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_cannot_be_read_is_refused(bm25, path, name):
    status, content = BODIES[name]
    refused = bm25.post(path, **as_json(content))
    assert refused.status_code == status
    assert told(path, refused).endswith(".")


@pytest.mark.parametrize("path", PATHS[:-1])
@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_of_the_wrong_type_is_refused(bm25, path, name, value):
    question, texts = ("question", "candidates") if path == "/v1/rank" else ("query", "documents")
    names = {"question": question, "texts": "texts" if path == "/rerank" else texts}
    body = {names["question"]: "who?", names["texts"]: ["a"]} | {names.get(name, name): value}
    refused = bm25.post(path, **as_json(json.dumps(body).encode()))
    assert refused.status_code == 422, refused.text
    assert told(path, refused)


def test_half_a_character_beside_the_text_comes_back_as_it_came(bm25):
    body = {"question": "who?", "candidates": [{"text": "a", "note": "\ud800"}]}
    found = bm25.post("/v1/rank", **as_json(json.dumps(body).encode()))
    assert found.json()["items"][0]["document"]["note"] == "\ud800"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/", 405),
        ("GET", "/v1/rank", 405),
        ("DELETE", "/rerank", 405),
        ("GET", "/v1/rank/../../etc/passwd", 404),
        ("GET", "/%ff%00", 404),
        ("POST", "/v1/rank/", 404),
        ("GET", "/docs", 404),
    ],
)
def test_an_unknown_way_in_is_told_in_json(bm25, method, path, status):
    refused = bm25.request(method, path)
    assert refused.status_code == status
    assert refused.json()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
names = ["question", "candidates", "query", "documents", "texts", "top", "top_n", "drop", "keep", "deadline_ms"]
names += ["return_documents", "rank_fields", "raw_scores", "return_text", "truncate", "model", "truncation_direction"]
bodies = st.dictionaries(st.sampled_from(names), json_values | st.lists(st.text(max_size=5), max_size=3), max_size=8)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(PATHS), body=bodies)
def test_no_body_makes_the_server_fail(bm25, path, body):
    found = bm25.post(path, **as_json(json.dumps(body).encode()))
    assert found.status_code in (200, 400, 404, 413, 422)
    assert found.json() is not None


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(PATHS), content=st.binary(max_size=60))
def test_no_bytes_make_the_server_fail(bm25, path, content):
    found = bm25.post(path, **as_json(content))
    assert found.status_code in (400, 422)
    assert told(path, found)
