"""Scores for libraries that sort by score."""

import numpy as np

from cascada import Item, Ranking
from cascada.integrations.common import descending_scores


def ranking(*scores):
    items = [Item("", score, score, index, 1, (score,), False, "") for index, score in enumerate(scores)]
    return Ranking("q", tuple(items), 1.0)


def test_scores_in_descending_order_stay_as_they_are():
    assert descending_scores(ranking(0.75, 0.5, 0.5, 0.0)) == [0.75, 0.5, 0.5, 0.0]


def test_a_candidate_dropped_early_with_a_higher_score_gets_the_next_smaller_number():
    scores = descending_scores(ranking(0.5, 0.25, 0.9, 0.8, 0.125))
    assert scores[:2] == [0.5, 0.25]
    assert scores[4] == 0.125
    assert np.all(np.diff(np.array(scores, np.float32)) < 0)
    assert scores[3] > 0.2499


def test_scores_do_not_become_negative():
    assert descending_scores(ranking(0.0, 0.5)) == [0.0, 0.0]
