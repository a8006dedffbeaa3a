"""A cache of scores changes what is computed, and nothing of what comes out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table_stages import TableStage

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.ranking.inputs import RankOptions
from cascada.ranking.score_cache import ScoreCache
from cascada.ranking.stage import OutOfTime
from cascada.store.bounded_cache import open_cache

TEXTS = [f"t{number}" for number in range(12)]
SCORES = {text: tuple(np.random.default_rng(3).normal(size=(12, 3))[number]) for number, text in enumerate(TEXTS)}


class Memory:
    """A cache that holds everything in memory: hypothesis makes hundreds."""

    def __init__(self):
        self.values = {}

    def get(self, keys):
        return [self.values.get(key) for key in keys]

    def put(self, entries):
        self.values.update(entries)


def table_ranker(cache=None, stages=3):
    return Ranker([TableStage(place, SCORES) for place in range(stages)], cache=cache)


def results(ranking):
    """Everything but what it cost."""
    return ranking.items, ranking.complete, ranking.likely, ranking.question, [s.candidates for s in ranking.stages]


def computed(ranker):
    return [stage.scored for stage in ranker.stages]


lists = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12)
plans = st.lists(st.sampled_from(["0", "0.3", "0.5", "0.7"]), min_size=2, max_size=2)


@given(st.lists(st.tuples(st.sampled_from(["q", "r"]), lists, plans), min_size=1, max_size=6))
def test_rankings_are_the_same_bit_for_bit_whatever_was_ranked_before(calls):
    cached, plain = table_ranker(ScoreCache(Memory(), "m")), table_ranker()
    for question, texts, plan in calls:
        drop = [float(ratio) for ratio in plan]
        assert results(cached.rank(question, texts, drop=drop)) == results(plain.rank(question, texts, drop=drop))


@given(st.lists(st.tuples(lists, lists), min_size=1, max_size=4))
def test_so_are_rankings_of_several_questions_at_once(calls):
    cached, plain = table_ranker(ScoreCache(Memory(), "m")), table_ranker()
    for first, second in calls:
        groups = [("q", first), ("r", second)]
        options = RankOptions.of(drop=0.5)
        found = [results(ranking) for ranking in cached.rank_together(groups, options)]
        assert found == [results(ranking) for ranking in plain.rank_together(groups, options)]


def test_a_pair_is_computed_once():
    ranker = table_ranker(ScoreCache(Memory(), "m"))
    first = ranker.rank("q", TEXTS[:8], drop=0)
    assert computed(ranker) == [8, 8, 8]
    again = ranker.rank("q", TEXTS[:8], drop=0)
    assert computed(ranker) == [8, 8, 8]
    assert [stage.cached for stage in again.stages] == [8, 8, 8]
    assert (again.flops, again.relative_cost) == (0, 0.0)
    assert again.full_flops == first.full_flops > 0
    ranker.rank("q", TEXTS, drop=0)
    assert computed(ranker) == [12, 12, 12]
    ranker.rank("another", TEXTS[:1], drop=0)
    assert computed(ranker) == [13, 13, 13]


def test_a_pair_that_was_dropped_and_survives_now_is_computed_from_the_first_stage_on():
    ranker = table_ranker(ScoreCache(Memory(), "m"))
    ranker.rank("q", TEXTS, keep=[3, 1])
    assert computed(ranker) == [12, 3, 1]
    ranking = ranker.rank("q", TEXTS, drop=0)
    assert computed(ranker) == [12 + 9 + 2, 3 + 9 + 2, 1 + 11]
    assert [stage.cached for stage in ranking.stages] == [12, 3, 1]


def test_what_was_computed_before_a_deadline_is_kept():
    cache = ScoreCache(Memory(), "m")
    ranker = table_ranker(cache)
    ranker.stages[2].work = lambda text, deadline: (_ for _ in ()).throw(OutOfTime)
    stopped = ranker.rank("q", TEXTS, drop=0)
    assert not stopped.complete
    other = table_ranker(cache)
    assert results(other.rank("q", TEXTS, drop=0)) == results(table_ranker().rank("q", TEXTS, drop=0))
    assert [stage.cached for stage in other.rank("q", TEXTS, drop=0).stages] == [12, 12, 12]


def test_speeds_are_not_learnt_from_cached_scores():
    ranker = table_ranker(ScoreCache(Memory(), "m"))
    ranker.rank("q", TEXTS, drop=0)
    rate = ranker._speeds.rate(0)
    for _ in range(20):
        ranker.rank("q", TEXTS, drop=0)
    assert ranker._speeds.rate(0) == rate


def test_another_models_scores_are_not_taken():
    memory = Memory()
    table_ranker(ScoreCache(memory, "one")).rank("q", TEXTS)
    other = table_ranker(ScoreCache(memory, "two"))
    other.rank("q", TEXTS, drop=0)
    assert computed(other) == [12, 12, 12]


@pytest.mark.parametrize("value", [b"", b"xyz", b"\0" * 900], ids=["empty", "of no size", "of more stages"])
def test_a_record_of_another_size_harms_nothing(value):
    memory = Memory()
    ranker = table_ranker(ScoreCache(memory, "m"))
    ranker.rank("q", TEXTS)
    memory.values = dict.fromkeys(memory.values, value)
    assert len(ranker.rank("q", TEXTS)) == 12


@pytest.fixture(scope="module")
def sentences():
    text = "the rhine rises in the alps and flows north to the sea past old towns with castles and vineyards"
    words = text.split()
    return [" ".join(words[start : start + length]) + "." for start in range(10) for length in (4, 6, 9)]


QUESTION = "where does the rhine rise?"


def test_the_bundled_model_gives_the_same_bits_from_the_cache(tmp_path, sentences):
    cached = Ranker.load(cache=tmp_path / "cache")
    computed = cached.rank(QUESTION, sentences)
    cached.cache.entries.flush()
    found = cached.rank(QUESTION, sentences)
    assert [stage.cached for stage in found.stages] == [0, len(found)]  # exit 0 compares candidates with each other
    assert found.flops == found.stages[0].flops < computed.flops
    assert results(found) == results(computed)
    plain = Ranker.load().rank(QUESTION, sentences)
    assert [item.index for item in found] == [item.index for item in plain]
    np.testing.assert_allclose([i.raw_score for i in found], [i.raw_score for i in plain], atol=1e-5)


def test_lists_that_overlap_share_scores(tmp_path, sentences):
    plain, cached = Ranker.load(), Ranker.load(cache=tmp_path / "cache")
    cached.rank(QUESTION, sentences[:20])
    cached.cache.entries.flush()
    found, expected = cached.rank(QUESTION, sentences[10:]), plain.rank(QUESTION, sentences[10:])
    assert found.stages[-1].cached == 10
    assert [item.index for item in found] == [item.index for item in expected]
    np.testing.assert_allclose([i.raw_score for i in found], [i.raw_score for i in expected], atol=1e-5)


def test_settings_that_change_what_is_read_are_not_mixed_up(tmp_path, sentences):
    plain, cached = Ranker.load(), Ranker.load(cache=tmp_path / "cache")
    long = " ".join(sentences)
    candidates = [long, {"text": sentences[3], "context": "Rivers"}, sentences[3]]
    for options in ({}, {"long": "first"}, {"max_tokens": 5}, {"max_tokens": 200}):
        for _ in range(2):
            found, expected = cached.rank(QUESTION, candidates, **options), plain.rank(QUESTION, candidates, **options)
            for attribute in ("index", "exit", "truncated", "window"):
                assert [getattr(i, attribute) for i in found] == [getattr(i, attribute) for i in expected]
            np.testing.assert_allclose([i.raw_score for i in found], [i.raw_score for i in expected], atol=1e-5)
            cached.cache.entries.flush()


def test_bm25_is_computed_and_what_follows_it_is_cached(tmp_path, ranker_folder, words):
    plain = Ranker.load(f"bm25+{ranker_folder}")
    cached = Ranker.load(f"bm25+{ranker_folder}", cache=tmp_path / "cache")
    texts = [" ".join(words[n : n + 4]) for n in range(8)]
    for _ in range(2):
        found = cached.rank(words[2], texts)
        assert results(found) == results(plain.rank(words[2], texts))
        cached.cache.entries.flush()
    assert [stage.cached for stage in found.stages] == [0, 8]


def test_models_share_a_folder_without_mixing(tmp_path, ranker_folder, cascade_folder, words):
    texts = [" ".join(words[n : n + 4]) for n in range(8)]
    for folder in (ranker_folder, cascade_folder, ranker_folder, cascade_folder):
        ranker = Ranker.load(folder, cache=tmp_path / "cache")
        assert results(ranker.rank(words[2], texts)) == results(Ranker.load(folder).rank(words[2], texts))
        ranker.cache.entries.flush()
    assert len(ranker.cache.entries) == 16


def test_a_cache_that_fails_does_not_fail_the_ranking(tmp_path, sentences):
    ranker = Ranker.load(cache=tmp_path / "cache")
    expected = ranker.rank(QUESTION, sentences)
    entries = ranker.cache.entries
    entries.flush()
    entries._lmdb.close()
    assert results(ranker.rank(QUESTION, sentences)) == results(expected)
    entries.flush()
    assert entries.errors > 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"model": "bm25"}, "compares the candidates of a question with each other"),
        ({"store": "corpus.store"}, "give cache or store"),
        ({"cache_mb": 0.1}, "it must be 8 to"),
        ({"cache_mb": float("nan")}, "must be a number of megabytes"),
    ],
)
def test_a_mistake_is_a_sentence(tmp_path, arguments, sentence):
    with pytest.raises(CascadaError, match=sentence):
        Ranker.load(**{"cache": tmp_path / "cache"} | arguments)


def test_the_limit_is_that_of_the_folder(tmp_path):
    ranker = Ranker.load(cache=tmp_path / "cache", cache_mb=9)
    assert open_cache(tmp_path / "cache", 10 << 20) is ranker.cache.entries
    assert ranker.with_plan(ranker.plan).cache is ranker.cache
