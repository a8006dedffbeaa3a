"""`/v1/ask`: answers from the index that the server was started with."""

from gated_stage import gated
from loopback import serving

from cascada.core.errors import CascadaError, NotHeld
from cascada.ranking.plan import drop_plan
from cascada.ranking.stage import NO_DEADLINE


class RecordingAsker:
    """Stands in for `cascada.search.Asker`."""

    def __init__(self):
        self.calls = []

    def answer(self, question, options, *, paragraphs):
        self.calls.append((question, options, paragraphs, options.deadline.left))
        return self

    def to_dict(self):
        return {"answers": [{"text": "Shakespeare"}]}


class FailingAsker:
    def __init__(self, error):
        self.error = error

    def answer(self, question, options, *, paragraphs):
        raise self.error


def test_a_server_without_an_index_says_so(bm25):
    rejected = bm25.post("/v1/ask", json={"question": "who?"})
    assert rejected.status_code == 404
    assert rejected.json()["error"]["message"] == "This server has no index to ask; it was started without one."


def test_the_asker_gets_the_resolved_options_with_a_running_deadline():
    asker = RecordingAsker()
    ranker, _ = gated(2)
    with serving(ranker, asker=asker) as http:
        body = {"question": "who?", "top": 2, "drop": 0.5, "deadline_ms": 90_000}
        assert http.post("/v1/ask", json=body).json() == {"answers": [{"text": "Shakespeare"}]}
        assert http.post("/v1/ask", json={"question": "who?", "paragraphs": 7}).status_code == 200
        assert http.post("/v1/ask", json={"question": "q" * 3000}).status_code == 413
    (question, first, paragraphs, seconds_left), (_, second, fewer, _) = asker.calls
    assert (question, first.top, paragraphs, fewer) == ("who?", 2, 80, 7)
    assert first.plan == drop_plan(0.5, len(ranker.stages))
    assert 0 < seconds_left < 90
    assert (second.top, second.plan, second.deadline) == (3, ranker.plan, NO_DEADLINE)


def test_data_on_another_server_is_421_and_a_failure_here_is_not_blamed_on_the_client():
    with serving(gated()[0]) as http:
        rejected = http.post("/v1/rank", json={"question": "elsewhere", "candidates": ["a"]})
    assert (rejected.status_code, rejected.json()["error"]["message"][:27]) == (421, "corpus.shards holds no shar")
    for error, status in ((NotHeld("It is there."), 421), (CascadaError("/srv/index is damaged."), 500)):
        with serving(gated()[0], asker=FailingAsker(error)) as http:
            rejected = http.post("/v1/ask", json={"question": "who?"})
            assert http.post("/v1/ask", json={"question": "who?", "drop": [2, 3]}).status_code == 422
            assert http.post("/v1/ask", json={"question": " "}).status_code == 422
        assert rejected.status_code == status
        assert "/srv" not in rejected.text
