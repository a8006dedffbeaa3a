"""The shorter form of `benchmarks/hostile.py`: malformed requests of every kind get 4xx, and the server lives on."""

import sys
from pathlib import Path

from cascada import Ranker
from cascada.search import Asker, MemoryRetriever, Passage

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "tests" / "serve")]
from hostile import reject  # noqa: E402
from hostile_requests import MAKERS, endpoints, malformed  # noqa: E402
from loopback import TIMEOUT, serving  # noqa: E402

COUNT = 20 * len(MAKERS)


def test_malformed_requests_get_4xx():
    ranker = Ranker.load("bm25")
    asker = Asker(MemoryRetriever([Passage("Hamlet is by Shakespeare.", "plays.txt", 0, 25)]), ranker)
    with serving(ranker, asker=asker) as http:
        result = reject(http, COUNT, seed=7, patience=TIMEOUT)
        paths = {endpoint.path for endpoint in endpoints(http.get("/openapi.json").json())}
    assert result["wrong"] == []
    assert all(status.startswith("4") for status in result["statuses"])
    assert (result["requests"], result["kinds"]) == (COUNT, len(MAKERS))
    assert {"/v1/rank", "/v1/ask", "/v1/rerank", "/v2/rerank", "/rerank"} <= paths


def test_a_seed_gives_the_same_requests():
    with serving(Ranker.load("bm25")) as http:
        known = endpoints(http.get("/openapi.json").json())
    assert list(malformed(known, 3, 60)) == list(malformed(known, 3, 60)) != list(malformed(known, 4, 60))
