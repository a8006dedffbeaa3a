"""A server with a cache of scores: the same responses, less work, and metrics that say so."""

from loopback import metric, serving

from cascada import Ranker

TEXTS = ["It rained.", "Hamlet is a play by Shakespeare.", "The Rhine is a river."]
BODY = {"question": "who wrote hamlet?", "candidates": TEXTS, "drop": 0}


def test_hits_and_misses_are_counted_and_the_response_is_the_same(tmp_path):
    ranker = Ranker.load(cache=tmp_path / "cache")
    with serving(ranker) as http:
        before = [metric(http, f"cascada_cache_{name}_total") for name in ("hits", "misses")]
        first = http.post("/v1/rank", json=BODY).json()
        ranker.cache.entries.flush()
        second = http.post("/v1/rank", json=BODY).json()
        counts = [metric(http, f"cascada_cache_{name}_total") for name in ("hits", "misses")]
        cacheable = [not getattr(stage, "compares_candidates", False) for stage in ranker.stages]
        assert cacheable == [False, True], "what exit 0 thinks depends on the list"
        computed = 3 * (2 + 1)  # exit 0 twice, the layers once
        assert [after - start for start, after in zip(before, counts, strict=True)] == [3, computed]
        assert metric(http, "cascada_cache_bytes") > 0
        assert metric(http, "cascada_cache_errors") == 0
    assert second["items"] == first["items"]
    assert [stage["cached"] for stage in second["stages"]] == [0, 3]


def test_a_server_without_a_cache_counts_nothing(bm25):
    bm25.post("/v1/rank", json=BODY)
    assert metric(bm25, "cascada_cache_misses_total") == 0
    assert "cascada_cache_bytes" not in bm25.get("/metrics").text
