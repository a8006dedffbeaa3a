"""Who may call: API keys, and pages of other origins."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import BODIES, serving

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.serve import ApiKeys, ServerSettings, create_app
from cascada.serve.keys import read_keys
from cascada.serve.page import FILES

KEYS = ("first", "sécond")


@pytest.fixture(scope="module")
def locked():
    with serving(Ranker.load("bm25"), ServerSettings(keys=ApiKeys.of(*KEYS))) as http:
        yield http


@pytest.mark.parametrize("path", [*BODIES, "/v1/ask"])
def test_without_a_key_nothing_is_read(locked, path):
    rejected = locked.post(path, content=b"not even json")
    assert rejected.status_code == 401
    assert rejected.headers["www-authenticate"] == "Bearer"


def test_each_of_the_keys_is_accepted(locked):
    for key in KEYS:
        headers = {"authorization": f"Bearer {key}".encode()}
        assert locked.post("/v1/rank", json=BODIES["/v1/rank"], headers=headers).status_code == 200


@pytest.mark.parametrize("header", [None, "", "Bearer", "Basic first", "first", "Bearer first second"])
def test_a_header_without_a_bearer_key_is_not_accepted(header):
    assert not ApiKeys.of(*KEYS).accept(header)


@given(key=st.text(st.characters(max_codepoint=0xFF)))
def test_no_other_key_is_accepted_and_without_keys_every_one_is(key):
    assert ApiKeys.of(*KEYS).accept(f"Bearer {key}") == (key.strip() == "first")
    assert ApiKeys().accept(key)


def test_exactly_the_paths_that_the_page_names_need_no_key(locked):
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"everything but (.*?) requires", page, re.DOTALL)
    routes = create_app(Ranker.load("bm25")).openapi()["paths"].keys() | FILES.keys() | {"/openapi.json"}
    openly = {path for path in routes if locked.get(path).status_code == 200}
    assert openly == set(re.findall(r"`(.*?)`", sentence))


def test_keys_come_from_a_file_and_from_the_variable(tmp_path, monkeypatch):
    (tmp_path / "keys").write_text("# ours\nfirst\n\nsecond\n")
    monkeypatch.setenv("CASCADA_API_KEY", "third, fourth")
    keys = read_keys(tmp_path / "keys")
    assert [keys.accept(f"Bearer {key}") for key in ("first", "second", "third", "fourth")] == [True] * 4
    assert not keys.accept("Bearer # ours")
    assert not keys.accept("Bearer ")


@pytest.mark.parametrize("content", [b"# nothing\n\n", b"\xff"])
def test_a_file_without_keys_does_not_open_the_server(tmp_path, monkeypatch, content):
    monkeypatch.delenv("CASCADA_API_KEY", raising=False)
    (tmp_path / "keys").write_bytes(content)
    with pytest.raises(CascadaError, match="keys"):
        read_keys(tmp_path / "keys")


def test_an_empty_variable_does_not_open_the_server(monkeypatch):
    monkeypatch.setenv("CASCADA_API_KEY", " ")
    with pytest.raises(CascadaError, match="CASCADA_API_KEY holds no key"):
        read_keys(None)


def test_pages_of_other_origins_may_not_call_unless_their_origin_is_named(bm25):
    origin = {"origin": "https://example.org"}
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    assert "access-control-allow-origin" not in bm25.get("/health", headers=origin).headers
    assert bm25.options("/v1/rank", headers=origin | preflight).status_code == 405
    with serving(Ranker.load("bm25"), ServerSettings(cors=("https://example.org",))) as http:
        assert http.options("/v1/rank", headers=origin | preflight).status_code == 200
        assert http.options("/v1/rank", headers=preflight | {"origin": "https://other.org"}).status_code == 400


def test_what_a_page_may_send_without_permission_is_not_read(bm25):
    rejected = bm25.post("/v1/rank", content=b"{}", headers={"content-type": "text/plain"})
    assert (rejected.status_code, rejected.json()["error"]["type"]) == (415, "unsupported")


def test_a_model_named_by_a_client_is_never_opened(bm25, tmp_path):
    body = {"model": str(tmp_path / "missing"), "query": "a", "documents": ["a"]}
    assert bm25.post("/v1/rerank", json=body).json()["model"] == "cascada"
