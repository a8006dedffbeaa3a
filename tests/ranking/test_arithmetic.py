"""What a ranking costs, before it is run: the paper's arithmetic, batch sizes and operations."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_stages import Case, cases

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.cost import Arithmetic, Course, survivors_into
from cascada.ranking.plan import drop_plan, keep_plan

EXITS = (4, 6, 8, 10, 12)


def course(drop, *, exits=EXITS, sequential=False):
    return Course(exits, drop_plan(drop, len(exits)), sequential)


# The paper's figures: twelve layers, 128 candidates

CASCADE = {
    0.3: ([128, 90, 63, 45, 32], 972, 0.633),
    0.4: ([128, 77, 47, 29, 18], 854, 0.556),
    0.5: ([128, 64, 32, 16, 8], 752, 0.490),
}


@pytest.mark.parametrize(("drop", "survivors", "spent", "cost"), [(drop, *row) for drop, row in CASCADE.items()])
def test_the_cascades_of_the_paper(drop, survivors, spent, cost):
    one = course(drop)
    assert survivors_into(one.plan, 128) == survivors
    assert one.layers == [4, 2, 2, 2, 2]
    assert sum(one.layer_candidates(128)) == spent
    assert round(one.relative_cost(128), 3) == cost


@pytest.mark.parametrize(("drop", "cost"), [(0.3, 1.556), (0.4, 1.208), (0.5, 0.917)])
def test_the_sequential_rankers_of_the_paper(drop, cost):
    one = course(drop, sequential=True)
    assert one.layers == list(EXITS)
    assert round(one.relative_cost(128), 3) == cost


def test_without_drops_a_cascade_costs_as_much_as_its_last_model():
    assert course(0).relative_cost(128) == 1
    assert course(0, sequential=True).relative_cost(128) == pytest.approx(40 / 12)


def test_numbers_to_keep_are_upper_bounds():
    one = Course(EXITS, keep_plan([64, 64, 10, 20], 5))
    assert survivors_into(one.plan, 128) == [128, 64, 64, 10, 10]
    assert survivors_into(one.plan, 5) == [5] * 5


@given(cases(stages=2))
@settings(max_examples=50)
def test_the_arithmetic_says_what_a_ranking_then_costs(case):
    layers = [1 + number for number in case.layers]
    one = Course(tuple(np.cumsum(layers).tolist()), tuple(case.rules))
    for group in case.groups:
        alone = Case([group], case.plan, layers)
        ranking = Ranker(alone.stages(), plan=one.plan).rank("who?", alone.names[0])
        assert [stage.candidates for stage in ranking.stages] == survivors_into(one.plan, len(group))
        assert ranking.relative_cost == pytest.approx(one.relative_cost(len(group)), rel=1e-12)


# Batches


def test_the_papers_batch_of_128_fits_where_a_plain_one_of_84_does():
    one = course(0.3)
    assert one.average_batch(128) == 81.0
    assert one.largest_batch(84) >= 128
    assert one.average_batch(one.largest_batch(84)) <= 84


@given(
    st.sampled_from([0, 0.1, 0.3, 0.5, 0.9]),
    st.integers(1, 300),
    st.sampled_from([EXITS, (12,), (1, 2, 3), (2, 24)]),
    st.booleans(),
)
@settings(max_examples=50)
def test_no_larger_batch_fits(drop, limit, exits, sequential):
    one = course(drop, exits=exits, sequential=sequential)
    largest = one.largest_batch(limit)
    assert largest >= limit, "a batch that never grows fits if its first one does"
    assert one.average_batch(largest) <= limit < one.average_batch(largest + 1)


def test_with_numbers_to_keep_the_first_batch_is_what_grows():
    one = Course((4, 12), keep_plan([10], 2))
    assert one.largest_batch(40) == 100  # (4 · 100 + 8 · 10) / 12
    assert one.average_batch(100) == 40


# Operations


def test_a_layers_matrix_products_are_counted():
    tokens, hidden, inner = 7, 4, 16
    products = [(tokens, hidden, hidden)] * 4 + [(tokens, hidden, inner), (tokens, inner, hidden)]
    attention = [(tokens, hidden, tokens), (tokens, tokens, hidden)]
    expected = sum(2 * a * b * c for a, b, c in products + attention)
    assert Arithmetic(hidden, inner).layer(np.array([tokens])).tolist() == [expected]


def test_a_head_costs_the_same_whatever_the_length():
    tokens = np.array([1, 100])
    assert Arithmetic(4, 16, "mean").on_exit(tokens).tolist() == [3 * 2 * 16 + 16] * 2
    assert Arithmetic(4, 16, "first").on_exit(tokens).tolist() == [16] * 2


def test_survivors_are_expected_to_be_as_long_as_all_are():
    arithmetic, tokens = Arithmetic(384, 1536), np.array([20, 30, 100])
    one = course(0.5)
    flops = one.flops(128, arithmetic, tokens)
    each = [arithmetic.stage(layers, tokens).mean() for layers in one.layers]
    assert flops == [round(n * cost) for n, cost in zip([128, 64, 32, 16, 8], each, strict=True)]
    assert course(0).full_flops(128, arithmetic, tokens) == pytest.approx(sum(128 * cost for cost in each))


def test_operations_follow_layers_closely():
    arithmetic, tokens = Arithmetic(384, 1536), np.array([44])
    for sequential in (False, True):
        one = course(0.3, sequential=sequential)
        share = sum(one.flops(128, arithmetic, tokens)) / one.full_flops(128, arithmetic, tokens)
        assert share == pytest.approx(one.relative_cost(128), rel=0.01)


@pytest.mark.parametrize("exits", [(), (0, 4), (4, 4), (6, 4), (-1,)])
def test_exits_that_do_not_rise(exits):
    with pytest.raises(CascadaError, match="The exits are"):
        Course(exits, (Decimal(0),))
