"""Request bodies: whatever is sent, the response is JSON in the dialect's own shape, and the server does not fail."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import BODIES, as_json, message_of

from cascada.serve.requests import MAX_DEPTH, parse_json
from cascada.serve.responses import ApiError

PATHS = [*BODIES, "/v1/ask"]
over_http = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def other_than(*types):
    """JSON values of any other type; None is mostly the same as leaving a key out."""
    return json_values.filter(lambda value: value is not None and type(value) not in types)


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers()
WRONG = {
    "question": other_than(str) | st.none() | st.sampled_from(["", " ", "\ud800"]),
    "documents": other_than(list) | st.lists(other_than(str, dict) | st.none() | st.just("\udfff")),
    "top": other_than(int) | st.integers(max_value=0),
    "drop": other_than(int, float, list, str) | st.text().filter(lambda text: text != "fit"),
    "keep": other_than(list) | st.lists(other_than(int) | st.integers(max_value=0), min_size=1),
    "deadline_ms": other_than(int, float) | numbers.filter(lambda number: number <= 0),
    "flag": other_than(bool),
    "names": other_than(list) | st.lists(other_than(str), min_size=1),
}
WRONG["drop"] |= numbers.filter(lambda ratio: not 0 <= ratio < 1) | st.lists(other_than(int, float), min_size=1)
COMMON = {"drop": "drop", "keep": "keep", "deadline_ms": "deadline_ms"}
KEYS = {
    "/v1/rank": {"question": "question", "candidates": "documents", "top": "top"},
    "/v1/prune": {"question": "question", "passages": "documents", "budget": "top"},
    "/v1/rerank": {"query": "question", "documents": "documents", "top_n": "top", "return_documents": "flag"},
    "/v2/rerank": {"query": "question", "documents": "documents", "rank_fields": "names"},
    "/rerank": {"query": "question", "texts": "documents", "raw_scores": "flag", "return_text": "flag"},
}
"""What each key of each path holds."""


@st.composite
def wrong_requests(draw):
    """A path, and a body for it that is valid but for one key, which is missing or holds a wrong value."""
    path = draw(st.sampled_from(list(BODIES)))
    key, kind = draw(st.sampled_from(list((KEYS[path] | COMMON).items())))
    if kind in ("question", "documents") and draw(st.booleans()):
        return path, {name: value for name, value in BODIES[path].items() if name != key}
    return path, BODIES[path] | {key: draw(WRONG[kind])}


@over_http
@given(request=wrong_requests())
def test_a_key_that_is_missing_or_wrong_is_rejected_in_a_sentence(bm25, request):
    path, body = request
    rejected = bm25.post(path, **as_json(json.dumps(body).encode()))
    assert rejected.status_code in (400, 422), rejected.text
    assert message_of(path, rejected).endswith(".")


any_body = st.dictionaries(
    st.sampled_from(sorted({key for keys in KEYS.values() for key in keys} | set(COMMON) | {"model", "truncate"})),
    json_values | st.lists(st.text(max_size=5), max_size=3),
    max_size=8,
)


@over_http
@given(path=st.sampled_from(PATHS), body=any_body)
def test_no_object_makes_the_server_fail(bm25, path, body):
    response = bm25.post(path, **as_json(json.dumps(body).encode()))
    assert response.status_code in (200, 400, 404, 413, 422)
    assert response.json() is not None


@over_http
@given(
    path=st.sampled_from(PATHS), content=st.binary(max_size=60) | json_values.map(lambda v: json.dumps([v]).encode())
)
def test_what_is_not_an_object_is_rejected_in_a_sentence(bm25, path, content):
    rejected = bm25.post(path, **as_json(content))
    assert rejected.status_code in (400, 422)
    assert message_of(path, rejected).endswith(".")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The body is not JSON: Expecting value"),
        (b'{"query": ', "The body is not JSON: Expecting value"),
        (b'{"query": "\xff\xfe"}', "The body is not UTF-8 (byte 12)."),
        (b'{"query": NaN}', "The body is not JSON: NaN is not a number."),
        (b'{"query": 1e999}', "The body is not JSON: 1e999 is not a number."),
        (b'{"query": ' + b"9" * 5000 + b"}", "The body is not JSON: Exceeds the limit"),
        (b"[" * 40 + b"]" * 40, "The body has more than 32 levels of lists and objects."),
        (b"[" * 200_000, "The body has more than 32 levels of lists and objects."),
    ],
    ids=["empty", "cut off", "not UTF-8", "NaN", "infinite", "too many digits", "deep", "bottomless"],
)
def test_a_body_that_is_not_json_is_rejected_with_the_reason(content, sentence):
    with pytest.raises(ApiError) as caught:
        parse_json(content)
    assert (caught.value.reason, caught.value.status) == ("malformed", 400)
    assert caught.value.message.startswith(sentence)


@given(value=json_values)
def test_every_json_value_is_parsed_as_it_was_written(value):
    assert parse_json(json.dumps(value).encode()) == value


@given(value=json_values, cut=st.integers(0, 200), byte=st.integers(0, 255))
def test_a_damaged_body_is_malformed_or_still_json(value, cut, byte):
    """What is accepted can be written again."""
    written = json.dumps({"key": value}).encode()
    for content in (written[:cut], written[:cut] + bytes([byte]) + written[cut + 1 :]):
        parsed, error = outcome_of(content)
        json.dumps(parsed, allow_nan=False)
        assert error is None or (error.reason, error.message[-1]) == ("malformed", ".")


def outcome_of(content):
    """The value of a body, or its error."""
    try:
        return parse_json(content), None
    except ApiError as error:
        return None, error


@given(depth=st.integers(1, 2 * MAX_DEPTH))
def test_nesting_is_accepted_up_to_the_limit(depth):
    content = b"[" * depth + b"]" * depth
    if depth <= MAX_DEPTH:
        parse_json(content)
    else:
        with pytest.raises(ApiError, match="more than 32 levels"):
            parse_json(content)


def test_an_unpaired_surrogate_in_another_key_is_returned_as_it_was_sent(bm25):
    body = {"question": "who?", "candidates": [{"text": "a", "note": "\ud800"}]}
    response = bm25.post("/v1/rank", **as_json(json.dumps(body).encode()))
    assert response.json()["items"][0]["document"]["note"] == "\ud800"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/", 405),
        ("DELETE", "/rerank", 405),
        ("GET", "/v1/rank/../../etc/passwd", 404),
        ("GET", "/%ff%00", 404),
        ("POST", "/v1/rank/", 404),
        ("GET", "/docs", 404),
    ],
)
def test_an_unknown_path_or_method_is_an_error_in_json(bm25, method, path, status):
    rejected = bm25.request(method, path)
    assert rejected.status_code == status
    assert rejected.json()
