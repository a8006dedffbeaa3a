"""The shape of a cascade: its default exits."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.systems.cascade.shape import default_exits

EXITS = {1: (1,), 2: (1, 2), 3: (1, 2, 3), 4: (1, 2, 3, 4), 6: (2, 3, 4, 5, 6), 12: (4, 6, 8, 10, 12)}


@pytest.mark.parametrize(("depth", "exits"), [*EXITS.items(), (24, (8, 12, 16, 20, 24))])
def test_default_exits_come_after_two_to_six_sixths_of_the_layers(depth, exits):
    assert default_exits(depth) == exits


@given(st.integers(1, 1000))
def test_exits_rise_to_the_last_layer(depth):
    exits = default_exits(depth)
    assert exits[-1] == depth
    assert exits[0] >= 1
    assert all(before < after for before, after in pairwise(exits))
