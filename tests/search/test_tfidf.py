"""TF-IDF as DrQA computes it."""

from math import log

import pytest

from cascada.search import Passage
from cascada.search.tfidf import TfIdf, terms
from cascada.search.tfidf_index import TfIdfIndex


def test_terms_are_words_and_pairs_of_them_without_stop_words():
    assert list(terms("The old New York was")) == [("old",), ("new",), ("york",), ("old", "new"), ("new", "york")]


def test_tfidf_scores_as_drqa_does():
    having = {("new",): 5, ("york",): 3, ("new", "york"): 2}
    tfidf = TfIdf(100, lambda term: having.get(term, 0))
    (score,) = tfidf.scores("new york", ["New York, New York and York"])
    idf = {term: log((100 - number + 0.5) / (number + 0.5)) for term, number in having.items()}
    counts = {("new",): 2, ("york",): 3, ("new", "york"): 2}
    assert score == pytest.approx(sum(log(2) * idf[term] ** 2 * log(1 + counts[term]) for term in counts))


def test_a_term_in_more_than_half_of_the_passages_has_no_weight():
    assert TfIdf(10, lambda term: 6).scores("york", ["york"]) == [0]


def test_terms_are_counted_once_per_text_of_a_collection():
    tfidf = TfIdf.of(["york york", "new york", "rain", "rain", "rain"])
    assert tfidf.idf(("york",)) == pytest.approx(log((5 - 2 + 0.5) / (2 + 0.5)))
    assert tfidf.idf(("rain",)) == tfidf.idf(("snow",)) == 0


def test_passages_with_equal_scores_keep_their_order():
    passages = [Passage(text, text, 0, len(text)) for text in ("one", "two", "new york")]
    best = TfIdf(100, lambda term: 2).best("york", passages, 3)
    assert [passage.text for passage in best] == ["new york", "one", "two"]
    assert best[0].score > best[1].score == 0


def test_the_index_scores_every_text_as_tfidf_does():
    texts = [
        "New York is a city.",
        "york york",
        "The new mayor of the old York",
        "rain",
        "",
        "new york new york",
        "sun",
    ]
    index, tfidf = TfIdfIndex(texts), TfIdf.of(texts)
    for question in ("Who is mayor of New York?", "new york new", "the of", "unheard", "rain"):
        expected = tfidf.scores(question, texts)
        assert index.scores(question).tolist() == pytest.approx(expected, abs=1e-6)
        ranked = sorted((n for n in range(len(texts)) if expected[n]), key=lambda n: -expected[n])
        assert index.best(question, 2).tolist() == ranked[:2]
