"""The front: what no other setting beats."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cascada.ranking.tuning import Figures
from cascada.ranking.tuning.choose import front

POINTS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=30)


def figures_of(points):
    cost, value = np.array(points, float).T
    return Figures(tuple((place,) for place in range(len(points))), {"relative_cost": cost, "MAP": value}, 0 * value, 1)


@given(POINTS)
def test_every_setting_is_matched_or_beaten_by_one_on_the_front(points):
    best = [points[place] for place in front(figures_of(points), "MAP")]
    assert all(any(cost <= c and value >= v for cost, value in best) for c, v in points)


@given(POINTS)
def test_along_the_front_more_cost_buys_more(points):
    best = [points[place] for place in front(figures_of(points), "MAP")]
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(best))


def test_a_rounding_error_does_not_put_a_setting_on_the_front():
    assert front(figures_of([(1, 0.5), (2, 0.5 + 1e-15)]), "MAP").tolist() == [0]
