"""Who may come in, and with how much."""

import pytest
from gated_stage import gated
from loopback import as_json, serving

from cascada import Ranker
from cascada.core.errors import CascadaError, NotHeld
from cascada.serve import Keys, Settings
from cascada.serve.keys import read_keys

BODIES = {
    "/v1/rank": {"question": "hamlet", "candidates": ["a", "b"]},
    "/v1/rerank": {"query": "hamlet", "documents": ["a", "b"]},
    "/v2/rerank": {"query": "hamlet", "documents": ["a", "b"], "model": "m"},
    "/rerank": {"query": "hamlet", "texts": ["a", "b"]},
}
MESSAGES = {
    "/v1/rank": lambda body: body["error"]["message"],
    "/v1/rerank": lambda body: body["message"],
    "/v2/rerank": lambda body: body["message"],
    "/rerank": lambda body: body["error"],
}


@pytest.fixture(scope="module")
def narrow():
    """A server with small limits."""
    limits = Settings(max_body=2000, max_documents=3, max_document=50, max_question=20)
    with serving(Ranker.load("bm25"), limits) as http:
        yield http


@pytest.fixture(scope="module")
def locked():
    with serving(Ranker.load("bm25"), Settings(keys=Keys.of("first", "sécond"))) as http:
        yield http


def longer(path, **change):
    """The path's body with other candidates or another question."""
    body = dict(BODIES[path])
    texts, question = list(body)[1], next(iter(body))
    return body | {{"texts": texts, "question": question}[name]: value for name, value in change.items()}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"texts": ["a"] * 4}, "There are 4 documents; at most 3 are ranked."),
        ({"texts": ["a", "b" * 51]}, "Document 1 has 51 characters; the most that are read is 50."),
        ({"question": "q" * 21}, "The question has 21 characters; the most that are read is 20."),
        ({"texts": ["b" * 2000]}, "The body is larger than 2,000 bytes, the most that is read."),
    ],
    ids=["documents", "document", "question", "body"],
)
def test_what_is_over_a_limit_is_refused_in_a_sentence(narrow, path, change, sentence):
    refused = narrow.post(path, json=longer(path, **change))
    assert refused.status_code == 413
    assert MESSAGES[path](refused.json()) == sentence


@pytest.mark.parametrize("path", BODIES)
def test_what_is_at_a_limit_is_ranked(narrow, path):
    assert narrow.post(path, json=longer(path, texts=["b" * 50] * 3, question="q" * 20)).status_code == 200


def test_a_body_that_does_not_tell_its_length_is_cut_off_at_the_limit(narrow):
    endless = (b" " * 1000 for _ in range(100))
    assert narrow.post("/v1/rank", **as_json(endless)).status_code == 413


@pytest.mark.parametrize("path", [*BODIES, "/v1/ask"])
@pytest.mark.parametrize("header", [None, "Bearer", "Bearer wrong", "Basic first", "first", "Bearer first second"])
def test_without_a_key_nothing_is_read(locked, path, header):
    refused = locked.post(path, content=b"not even json", headers={} if header is None else {"authorization": header})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("key", ["first", "sécond"])
def test_each_of_the_keys_opens(locked, key):
    headers = {"authorization": f"Bearer {key}".encode()}
    assert locked.post("/v1/rank", json=BODIES["/v1/rank"], headers=headers).status_code == 200


def test_health_needs_no_key_but_metrics_do(locked):
    assert [locked.get(path).status_code for path in ("/health", "/ready", "/metrics")] == [200, 200, 401]


def test_keys_come_from_a_file_and_from_the_variable(tmp_path, monkeypatch):
    (tmp_path / "keys").write_text("# ours\nfirst\n\nsecond\n")
    monkeypatch.setenv("CASCADA_API_KEY", "third, fourth")
    keys = read_keys(tmp_path / "keys")
    assert [keys.open_with(f"Bearer {key}") for key in ("first", "second", "third", "fourth")] == [True] * 4
    assert not keys.open_with("Bearer # ours")
    assert not keys.open_with("Bearer ")


@pytest.mark.parametrize("content", [b"# nothing\n\n", b"\xff"])
def test_a_file_without_keys_does_not_leave_the_door_open(tmp_path, monkeypatch, content):
    monkeypatch.delenv("CASCADA_API_KEY", raising=False)
    (tmp_path / "keys").write_bytes(content)
    with pytest.raises(CascadaError, match="keys"):
        read_keys(tmp_path / "keys")


def test_an_empty_variable_does_not_leave_the_door_open(monkeypatch):
    monkeypatch.setenv("CASCADA_API_KEY", " ")
    with pytest.raises(CascadaError, match="CASCADA_API_KEY holds no key"):
        read_keys(None)


def test_pages_elsewhere_may_not_call_unless_their_origin_is_named(bm25):
    origin = {"origin": "https://example.org"}
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    assert "access-control-allow-origin" not in bm25.get("/health", headers=origin).headers
    assert bm25.options("/v1/rank", headers=origin | asked).status_code == 405
    with serving(Ranker.load("bm25"), Settings(cors=("https://example.org",))) as http:
        assert http.options("/v1/rank", headers=origin | asked).status_code == 200
        assert http.options("/v1/rank", headers=asked | {"origin": "https://other.org"}).status_code == 400


def test_what_a_page_may_send_without_leave_is_not_read(bm25):
    refused = bm25.post("/v1/rank", content=b"{}", headers={"content-type": "text/plain"})
    assert (refused.status_code, refused.json()["error"]["type"]) == (415, "unsupported")


def test_a_model_named_by_a_client_is_never_opened(bm25, tmp_path):
    body = {"model": str(tmp_path / "missing"), "query": "a", "documents": ["a"]}
    assert bm25.post("/v1/rerank", json=body).json()["model"] == "cascada"


class Recorder:
    """Stands where `cascada.search.Asker` does."""

    def __init__(self):
        self.asked = []

    def ask(self, question, **how):
        self.asked.append((question, how))
        return self

    def to_dict(self):
        return {"answers": [{"text": "Shakespeare"}]}


def test_a_server_without_an_index_says_so(bm25):
    refused = bm25.post("/v1/ask", json={"question": "who?"})
    assert refused.status_code == 404
    assert refused.json()["error"]["message"] == "This server has no index to ask; it was started without one."


def test_an_index_is_asked_with_what_is_left_of_the_time():
    asker = Recorder()
    with serving(gated()[0], asker=asker) as http:
        body = {"question": "who?", "top": 2, "drop": 0.5, "deadline_ms": 90_000}
        assert http.post("/v1/ask", json=body).json() == {"answers": [{"text": "Shakespeare"}]}
        assert http.post("/v1/ask", json={"question": "who?"}).status_code == 200
        assert http.post("/v1/ask", json={"question": "q" * 3000}).status_code == 413
    (_, first), (_, second) = asker.asked
    assert 0 < first.pop("deadline_ms") <= 90_000
    assert first == {"top": 2, "paragraphs": 80, "drop": 0.5, "keep": None}
    assert second["deadline_ms"] is None


class Broken:
    def __init__(self, error):
        self.error = error

    def ask(self, question, **how):
        raise self.error


def test_what_another_server_holds_is_said_and_what_fails_here_is_not_blamed_on_the_asker():
    with serving(gated()[0]) as http:
        refused = http.post("/v1/rank", json={"question": "elsewhere", "candidates": ["a"]})
    assert (refused.status_code, refused.json()["error"]["message"][:27]) == (421, "corpus.shards holds no shar")
    for error, status in ((NotHeld("It is there."), 421), (CascadaError("/srv/index is damaged."), 500)):
        with serving(gated()[0], asker=Broken(error)) as http:
            refused = http.post("/v1/ask", json={"question": "who?"})
            assert http.post("/v1/ask", json={"question": "who?", "drop": [2, 3]}).status_code == 422
            assert http.post("/v1/ask", json={"question": " "}).status_code == 422
        assert refused.status_code == status
        assert "/srv" not in refused.text
