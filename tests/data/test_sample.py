"""Samples are spread over what they are drawn from."""

import pytest

from cascada.data.sample import even_shares, evenly_spaced, sample, spread_positions


@pytest.mark.parametrize(
    ("sizes", "count", "shares"),
    [([5, 5, 5], 7, [3, 2, 2]), ([1, 9, 9], 10, [1, 5, 4]), ([0, 2], 9, [0, 2]), ([3, 3], 0, [0, 0]), ([], 4, [])],
)
def test_shares_are_as_even_as_the_sizes_allow(sizes, count, shares):
    assert even_shares(sizes, count) == shares


def test_a_small_sample_has_positions_of_as_many_lists_as_it_can():
    drawn = spread_positions([50] * 20, 10, seed=3)
    assert sorted(map(len, drawn)) == [0] * 10 + [1] * 10
    assert {index for index, positions in enumerate(drawn) if positions} != set(range(10))


def test_the_seed_decides_what_is_drawn():
    assert spread_positions([9] * 9, 12, seed=1) == spread_positions([9] * 9, 12, seed=1)
    assert spread_positions([9] * 9, 12, seed=1) != spread_positions([9] * 9, 12, seed=2)


def test_all_positions_are_all_positions():
    assert spread_positions([2, 3], 99, seed=0) == [[0, 1], [0, 1, 2]]


def test_a_sample_comes_from_the_whole_and_keeps_its_order():
    drawn = sample(range(1000), 50, str)
    assert drawn == sorted(drawn)
    assert len(set(drawn)) == 50
    assert {number // 250 for number in drawn} == {0, 1, 2, 3}
    assert sample(range(5), 9, str) == [0, 1, 2, 3, 4]


def test_a_larger_sample_contains_the_smaller_one():
    assert set(sample(range(200), 20, str, seed=4)) < set(sample(range(200), 60, str, seed=4))
    assert sample(range(200), 20, str, seed=4) != sample(range(200), 20, str, seed=5)


def test_the_order_of_the_items_does_not_matter():
    assert sample(reversed(range(200)), 20, str) == sample(range(200), 20, str)[::-1]


def test_evenly_spaced_items_span_the_list():
    assert evenly_spaced(list("abcdefghij"), 3) == ["a", "d", "g"]
    assert evenly_spaced([1, 2], 5) == evenly_spaced([1, 2], None) == [1, 2]
    assert evenly_spaced([], 5) == []
