"""The index scores as the BM25 ranker does when it reads every text."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cascada.ranking import Ranker
from cascada.text.bm25 import BM25Index

WORDS = st.sampled_from(["a", "B", "c,", "straße", "d-e", "ÉTÉ", "42", "…"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


@settings(max_examples=50)
@given(st.lists(TEXTS, min_size=1, max_size=12), st.lists(WORDS, min_size=1).map(" ".join))
def test_scores_are_those_of_the_bm25_ranker_with_all_texts_as_its_collection(texts, question):
    expected = {item.index: item.raw_score for item in Ranker.load("bm25", texts=texts).rank(question, texts).items}
    scores = BM25Index(texts).scores(question).astype(np.float32).tolist()
    assert dict(enumerate(scores)) == expected


@settings(max_examples=50)
@given(st.lists(TEXTS, max_size=12), st.lists(WORDS, min_size=1).map(" ".join), st.integers(0, 14))
def test_the_best_are_the_first_of_a_full_sort_and_share_a_word(texts, question, limit):
    index = BM25Index(texts)
    scores = index.scores(question)
    order = sorted((number for number in range(len(texts)) if scores[number] > 0), key=lambda n: (-scores[n], n))
    assert index.best(question, limit).tolist() == order[:limit]


def test_a_rare_word_has_a_higher_idf_than_a_common_one_and_an_unknown_word_the_highest():
    index = BM25Index(["the rhine", "the danube", "the danube"])
    assert index.idf("the") < index.idf("danube") < index.idf("rhine") < index.idf("volga")


def test_an_answer_takes_a_fraction_of_reading_all_texts():
    draw = np.random.default_rng(0)
    texts = [" ".join(map(str, line)) for line in draw.zipf(1.3, (20_000, 25)).tolist()]
    index = BM25Index(texts)
    start = time.process_time()
    for text in texts[:100]:
        index.best(text, 100)
    indexed = time.process_time() - start
    Ranker.load("bm25", texts=texts).rank(texts[0], texts)
    assert indexed / 100 < (time.process_time() - start - indexed) / 20


@pytest.mark.parametrize("texts", [[], ["", "…"]])
def test_an_empty_index_finds_nothing(texts):
    assert BM25Index(texts).best("who?", 5).tolist() == []
