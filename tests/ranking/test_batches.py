"""Pairs are computed in batches of like length, within a token budget."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cascada.ranking.arrays import by_token_budget, shortest_first

LENGTHS = st.lists(st.integers(1, 50), max_size=60).map(lambda lengths: np.array(lengths, dtype=np.int64))


@given(LENGTHS, st.integers(1, 200))
def test_every_pair_is_in_one_batch_and_a_batch_is_within_the_budget(lengths, budget):
    batches = list(shortest_first(lengths, budget))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget


@given(LENGTHS, st.integers(1, 200))
def test_a_batch_is_as_full_as_the_budget_allows(lengths, budget):
    batches = list(shortest_first(lengths, budget))
    for batch, following in pairwise(batches):
        assert (len(batch) + 1) * lengths[following[0]] > budget


def test_an_order_that_is_given_is_kept():
    lengths = np.array([5, 1, 5, 1])
    assert [batch.tolist() for batch in by_token_budget(lengths, np.array([3, 0, 2, 1]), 10)] == [[3, 0], [2, 1]]
