"""Malformed requests, made from the server's own OpenAPI description: no two seeds give the same ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

JSON = {"content-type": "application/json"}
SAMPLES: dict[str, list[Any]] = {
    "null": [None],
    "boolean": [True, False],
    "integer": [0, -1, 7, 2**63, -(10**40)],
    "number": [0.5, -1e300, 1e-300],
    "string": ["", "x", "\ud800", "\u0000", "🦀" * 50, "best", "<script>"],
    "array": [[], [None], [[]], [1, "x"], [{}]],
    "object": [{}, {"text": 1}, {"x": {"y": []}}],
}


@dataclass(frozen=True)
class Request:
    """A request that no server should accept."""

    kind: str
    method: str
    path: str
    content: bytes
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))


@dataclass(frozen=True)
class Endpoint:
    """A path with a valid body and the schema of its keys."""

    path: str
    example: dict[str, Any]
    schema: dict[str, Any]


def endpoints(openapi: dict[str, Any]) -> list[Endpoint]:
    """Every path that takes a JSON body."""
    found = []
    for path, methods in openapi["paths"].items():
        if "post" in methods:
            body = methods["post"]["requestBody"]["content"]["application/json"]
            found.append(Endpoint(path, body["example"], body["schema"]))
    return found


def malformed(known: list[Endpoint], seed: int, count: int) -> Iterator[Request]:
    """`count` requests, of all kinds in turn."""
    dice = random.Random(seed)
    makers = list(MAKERS.items())
    for number in range(count):
        kind, make = makers[number % len(makers)]
        endpoint = dice.choice(known)
        made = make(endpoint, dice)
        request = made if isinstance(made, Request) else Request(kind, "POST", endpoint.path, made)
        yield _with_odd_headers(request, dice)


def _with_odd_headers(request: Request, dice: random.Random) -> Request:
    odd = {
        "x-request-id": dice.choice(["", "a b", "x" * 500, "ok-1", "<>"]),
        "traceparent": dice.choice(["", "00-zz", "00-" + "0" * 55, "x" * 2000]),
        "accept": dice.choice(["", "image/png", "*/*;q=x"]),
    }
    return Request(request.kind, request.method, request.path, request.content, {**odd, **request.headers})


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _types(schema: dict[str, Any]) -> set[str]:
    """The JSON types that a schema accepts; empty for anything."""
    types = {schema["type"]} if "type" in schema else set()
    for option in schema.get("anyOf", []):
        types |= _types(option)
    if "const" in schema or "enum" in schema:
        types.add("string")
    return types | ({"integer"} if "number" in types else set())


def _typed_keys(endpoint: Endpoint) -> dict[str, set[str]]:
    properties = endpoint.schema["properties"].items()
    return {name: types for name, schema in properties if (types := _types(schema))}


def wrong_type(endpoint: Endpoint, dice: random.Random) -> bytes:
    key, types = dice.choice(list(_typed_keys(endpoint).items()))
    value = dice.choice(SAMPLES[dice.choice(sorted(set(SAMPLES) - types))])
    return _dumped(endpoint.example | {key: value})


def missing_key(endpoint: Endpoint, dice: random.Random) -> bytes:
    key = dice.choice(endpoint.schema["required"])
    return _dumped({name: value for name, value in endpoint.example.items() if name != key})


def out_of_range(endpoint: Endpoint, dice: random.Random) -> bytes:
    wrong = {"min_score": [-0.1, 1.1, 10**400], "max_tokens": [0, -5], "deadline_ms": [0, -1], "skip_if_sure": [-1]}
    wrong |= {"drop": [1, -0.2, [0.1] * 40, "fast"], "keep": [[0], [-1], list(range(40, 0, -1))], "prior": [-1]}
    wrong |= {"cut": ["widest"], "long": ["all"]}
    key = dice.choice(sorted(set(wrong) & set(endpoint.schema["properties"])))
    return _dumped(endpoint.example | {key: dice.choice(wrong[key])})


def empty_or_blank(endpoint: Endpoint, dice: random.Random) -> bytes:
    key = dice.choice(endpoint.schema["required"])
    value = endpoint.example[key]
    return _dumped(endpoint.example | {key: dice.choice(["", " \n", "\ud800"]) if isinstance(value, str) else []})


def bad_document(endpoint: Endpoint, dice: random.Random) -> bytes:
    """One document among good ones: of another type, without a text, with a text that no tokenizer can read."""
    lists = [key for key in endpoint.schema["required"] if isinstance(endpoint.example[key], list)]
    if not lists:
        return wrong_type(endpoint, dice)
    documents: list[Any] = ["fine"] * dice.randrange(5)
    documents.insert(dice.randrange(len(documents) + 1), dice.choice([None, 7, [], {}, {"text": 7}, "\udfff", True]))
    return _dumped(endpoint.example | {lists[0]: documents})


def not_an_object(endpoint: Endpoint, dice: random.Random) -> bytes:
    return _dumped(dice.choice([None, 1, "x", [], [endpoint.example], True]))


def cut_short(endpoint: Endpoint, dice: random.Random) -> bytes:
    whole = _dumped(endpoint.example)
    return whole[: dice.randrange(len(whole))]


def damaged(endpoint: Endpoint, dice: random.Random) -> bytes:
    """A body with some bytes that are invalid in JSON."""
    whole = bytearray(_dumped(endpoint.example))
    for _ in range(dice.randrange(1, 5)):
        whole[dice.randrange(len(whole))] = dice.choice([0x00, 0x01, 0xFF, 0xC0, 0x80])
    return bytes(whole)


def noise(endpoint: Endpoint, dice: random.Random) -> bytes:
    return b"\xff" + dice.randbytes(dice.randrange(2000))


def no_number(endpoint: Endpoint, dice: random.Random) -> bytes:
    number = dice.choice(["NaN", "Infinity", "-Infinity", "1e999", "0x10", "01", ".5", "9" * 5000])
    return _dumped(endpoint.example)[:-1] + f', "min_score": {number}}}'.encode()


def nested(endpoint: Endpoint, dice: random.Random) -> bytes:
    depth = dice.choice([40, 1000, 100_000])
    opening, closing = dice.choice([(b"[", b"]"), (b'{"a":', b"}")])
    return _dumped(endpoint.example)[:-1] + b', "x": ' + opening * depth + b"1" + closing * depth + b"}"


def too_large(endpoint: Endpoint, dice: random.Random) -> bytes:
    question = next(key for key in endpoint.schema["required"] if isinstance(endpoint.example[key], str))
    lists = [key for key in endpoint.schema["required"] if isinstance(endpoint.example[key], list)]
    large: list[dict[str, Any]] = [{question: "a" * 2001}]
    if lists:
        large += [{lists[0]: ["a"] * 1001}, {lists[0]: ["a" * 20_001]}]
    return _dumped(endpoint.example | dice.choice(large))


def wrong_content_type(endpoint: Endpoint, dice: random.Random) -> Request:
    sent = dice.choice(["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data", "json"])
    return Request("wrong_content_type", "POST", endpoint.path, _dumped(endpoint.example), {"content-type": sent})


def wrong_method(endpoint: Endpoint, dice: random.Random) -> Request:
    method = dice.choice(["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "BREW"])
    return Request("wrong_method", method, endpoint.path, _dumped(endpoint.example))


def wrong_path(endpoint: Endpoint, dice: random.Random) -> Request:
    odd = ["/", "/../etc/passwd", "//", "/%00", "/%ff%fe", "?q=" + "x" * 3000, ";x", "/" + "a" * 3000]
    path = endpoint.path + dice.choice(odd)
    return Request("wrong_path", "GET" if "?" in path else "POST", path, _dumped(endpoint.example))


MAKERS: dict[str, Callable[[Endpoint, random.Random], bytes | Request]] = {
    made.__name__: made
    for made in (
        wrong_type, missing_key, out_of_range, empty_or_blank, bad_document, not_an_object, cut_short, damaged, noise,
        no_number, nested, too_large, wrong_content_type, wrong_method, wrong_path,
    )
}  # fmt: skip
