"""What the first stage thought, gaps in the scores, and whether anything answers."""

import numpy as np
import pytest

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.ranking.prior import is_sure
from cascada.ranking.selection import before_gap

QUESTION = "who wrote the play hamlet?"
TEXTS = ["Shakespeare wrote the play Hamlet.", "The play Hamlet.", "A play by Shakespeare.", "A play.", "It rained."]


def order(**options):
    return [item.index for item in Ranker.load("bm25").rank(QUESTION, options.pop("texts", TEXTS), **options)]


def with_scores(*scores):
    return [{"text": text, "prior": score} for text, score in zip(TEXTS, scores, strict=True)]


def test_a_first_stage_that_agrees_moves_a_candidate_up():
    swapped = [TEXTS[0], TEXTS[2], TEXTS[1], *TEXTS[3:]]
    assert order(texts=swapped).index(1) > order(texts=swapped).index(2)
    assert order(texts=swapped, prior=50)[:3] == [0, 1, 2]


def test_a_first_stage_that_contradicts_counts_for_nothing():
    backwards = TEXTS[::-1]
    assert order(texts=backwards, prior=50) == order(texts=backwards)


def test_scores_and_the_order_they_give_count_alike():
    assert order(texts=with_scores(9, 5, 7, 3, 1), prior=50)[:3] == [0, 2, 1]


def test_the_best_score_stays_and_scores_follow_the_order():
    ranker = Ranker.load("bm25")
    own, both = ranker.rank(QUESTION, TEXTS), ranker.rank(QUESTION, with_scores(9, 5, 7, 3, 1), prior=True)
    assert both[0].score == pytest.approx(own[0].score)
    scores = [item.score for item in both]
    assert scores == sorted(scores, reverse=True)


def test_a_score_that_only_some_candidates_bring_is_rejected():
    with pytest.raises(CascadaError, match='Candidate 1 has no "prior"'):
        order(texts=[{"text": "a", "prior": 1}, "b"], prior=True)
    with pytest.raises(CascadaError, match="finite number"):
        order(texts=[{"text": "a", "prior": "high"}], prior=True)


def test_a_first_stage_that_is_sure_is_trusted_and_nothing_is_computed():
    ranking = Ranker.load("bm25").rank(QUESTION, with_scores(0, 1, 2, 3, 50), skip_if_sure=3)
    assert ranking.skipped
    assert [item.index for item in ranking] == [4, 3, 2, 1, 0]
    assert (ranking[0].score, ranking[-1].score, ranking.flops) == (1, 0, 0)
    ranked = Ranker.load("bm25").rank(QUESTION, with_scores(0, 1, 2, 3, 4), skip_if_sure=3)
    assert not ranked.skipped
    assert ranked[0].index == 0
    with pytest.raises(CascadaError, match="skip_if_sure compares"):
        order(skip_if_sure=1)


def test_equal_best_scores_are_never_sure():
    assert not is_sure(np.array([3.0, 3.0, 1.0]), 0)


@pytest.mark.parametrize(
    ("scores", "count"),
    [([0.9, 0.88, 0.3, 0.2], 2), ([0.5, 0.45, 0.4], 3), ([0.9], 1), ([0.3, 0.1, 0.8, 0.02], 1)],
    ids=["after two", "nowhere", "one", "dropped early"],
)
def test_a_ranking_ends_where_the_scores_fall_off(scores, count):
    assert before_gap(np.array(scores)) == count


def test_cut_applies_to_a_ranking():
    scores = [item.score for item in Ranker.load("bm25").rank(QUESTION, TEXTS)]
    ranking = Ranker.load("bm25").rank(QUESTION, TEXTS, cut="gap")
    assert len(ranking) == before_gap(np.array(scores)) < len(TEXTS)
