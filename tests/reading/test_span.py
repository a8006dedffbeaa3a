"""The search for the best span, against brute force."""

import doctest

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cascada.reading import span
from cascada.reading.span import best_span

scores = st.lists(st.integers(-20, 20), min_size=1, max_size=12)


@given(st.data(), scores, st.integers(1, 6))
def test_it_is_the_best_of_all_that_are_short_enough(data, starts, longest):
    ends = data.draw(st.lists(st.integers(-20, 20), min_size=len(starts), max_size=len(starts)))
    every = [(i, j) for i in range(len(starts)) for j in range(i, min(i + longest, len(starts)))]
    score, first, last = best_span(np.array(starts, np.float32), np.array(ends, np.float32), longest=longest)
    assert (first, last) in every
    assert score == starts[first] + ends[last] == max(starts[i] + ends[j] for i, j in every)


def test_the_example():
    assert doctest.testmod(span).failed == 0
    assert doctest.testmod(span).attempted == 1
