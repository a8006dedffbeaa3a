"""Scores that others sort by."""

import numpy as np

from cascada import Item, Ranking
from cascada.integrations.ranks import falling


def ranking(*scores):
    items = [Item("", score, score, index, 1, (score,), False, "") for index, score in enumerate(scores)]
    return Ranking("q", tuple(items), 1.0)


def test_scores_that_fall_stay_as_they_are():
    assert falling(ranking(0.75, 0.5, 0.5, 0.0)) == [0.75, 0.5, 0.5, 0.0]


def test_who_left_early_with_a_higher_score_gets_the_next_number_below():
    found = falling(ranking(0.5, 0.25, 0.9, 0.8, 0.125))
    assert found[:2] == [0.5, 0.25]
    assert found[4] == 0.125
    assert np.all(np.diff(np.array(found, np.float32)) < 0)
    assert found[3] > 0.2499


def test_scores_do_not_fall_below_zero():
    assert falling(ranking(0.0, 0.5)) == [0.0, 0.0]
