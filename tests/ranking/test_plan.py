"""How many candidates an exit removes: floor(α·k), with α the decimal that was written."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import CascadaError
from cascada.ranking.plan import AtLeast, drop_plan, dropped, keep_plan, plan_of, with_least


@pytest.mark.parametrize(
    ("ratio", "survivors", "leave"), [(0.29, 100, 29), (0.57, 100, 57), (0.3, 10, 3), (0.1, 30, 3)]
)
def test_the_decimal_that_was_written_counts_not_its_binary_neighbour(ratio, survivors, leave):
    assert dropped(drop_plan(ratio, 2)[0], survivors) == leave


@given(digits=st.integers(0, 9999), survivors=st.integers(1, 100_000))
def test_the_floor_is_exact(digits, survivors):
    ratio = float(f"0.{digits:04d}")
    exact = math.floor(Fraction(digits, 10_000) * survivors)
    assert dropped(drop_plan(ratio, 2)[0], survivors) == exact


@given(ratio=st.floats(0, 1, exclude_max=True), survivors=st.integers(1, 10_000))
def test_someone_always_survives(ratio, survivors):
    assert 0 <= dropped(drop_plan(ratio, 2)[0], survivors) < survivors


def test_one_ratio_is_for_every_exit_but_the_last():
    assert drop_plan(0.3, 5) == (Decimal("0.3"),) * 4
    assert drop_plan(0, 3) == drop_plan(None, 3) == (0, 0)


def test_a_ranker_with_one_exit_drops_nothing():
    assert drop_plan(0.3, 1) == drop_plan([], 1) == drop_plan(None, 1) == ()


@pytest.mark.parametrize("drop", [(0.1, 0.2), [Decimal("0.1"), Decimal("0.2")], np.array([0.1, 0.2], np.float32)])
def test_ratios_may_be_any_numbers_in_any_sequence(drop):
    assert drop_plan(drop, 3) == (Decimal("0.1"), Decimal("0.2"))


@pytest.mark.parametrize("drop", [Decimal("0.3"), np.float32(0.3), np.float64(0.3)])
def test_a_ratio_may_be_any_number(drop):
    assert drop_plan(drop, 2) == (Decimal("0.3"),)
    assert drop_plan(np.int64(0), 2) == (Decimal(0),)


@given(keep=st.integers(1, 50), survivors=st.integers(1, 100))
def test_all_but_so_many_leave(keep, survivors):
    assert survivors - dropped(keep_plan([keep], 2)[0], survivors) == min(keep, survivors)


@pytest.mark.parametrize("keep", [[64, 32], (64, 32), np.array([64, 32])])
def test_keep_counts_may_be_given_as_any_sequence(keep):
    plan = keep_plan(keep, 3)
    assert plan == (64, 32)
    assert {type(rule) for rule in plan} == {int}


def test_a_plan_that_is_not_asked_for_is_the_one_there_is():
    own = (Decimal("0.5"), 7)
    assert plan_of(None, None, 3, otherwise=own) == own
    assert plan_of(0, None, 3, otherwise=own) == plan_of(None, None, 3) == (0, 0)
    assert plan_of(None, [9, 8], 3, otherwise=own) == (9, 8)


# What is refused

NO_NUMBERS = [5, [0, 1], [-1, 2], [1.5, 2], ["a", "b"], "64", {64: 1}, [True, 2], [None, 1]]


@pytest.mark.parametrize("keep", NO_NUMBERS, ids=repr)
def test_a_wrong_keep_count_is_rejected_with_one_sentence(keep):
    with pytest.raises(CascadaError, match=r"keep is .*; it must be a list of whole numbers from 1"):
        keep_plan(keep, 3)


def test_the_wrong_number_of_keep_counts_is_rejected():
    with pytest.raises(CascadaError, match="keep has 3 numbers, but this ranker drops candidates at 2 exits"):
        keep_plan([3, 2, 1], 3)


def test_an_exit_goes_by_a_ratio_or_a_number():
    with pytest.raises(CascadaError, match="drop and keep were both given"):
        plan_of(0.3, [5], 2)


NO_RATIOS = [1, 1.0, 2, -0.1, float("nan"), float("inf"), True, "0.3", [0.3, "x"], [[0.3], 0.2], {}, 1j]


@pytest.mark.parametrize("ratio", [*NO_RATIOS, Decimal("NaN"), Decimal(1)], ids=repr)
def test_a_wrong_ratio_is_rejected_with_one_sentence(ratio):
    with pytest.raises(CascadaError, match="drop"):
        drop_plan(ratio, 3)


def test_the_wrong_number_of_ratios_is_rejected():
    with pytest.raises(CascadaError, match="drop has 3 ratios, but this ranker drops candidates at 2 exits"):
        drop_plan([0.1, 0.2, 0.3], 3)


@given(ratio=st.decimals(0, Decimal("0.99"), places=2), keep=st.integers(1, 60), survivors=st.integers(0, 500))
def test_a_ratio_with_a_least_number_drops_its_share_but_never_below_it(ratio, keep, survivors):
    left = survivors - dropped(AtLeast(ratio, keep), survivors)
    assert left == max(survivors - dropped(ratio, survivors), min(keep, survivors))


def test_a_least_number_must_be_one():
    with pytest.raises(CascadaError, match="at_least is 0"):
        with_least((Decimal("0.5"),), 0)


def test_least_numbers_are_one_for_all_exits_or_one_for_each():
    half = Decimal("0.5")
    assert with_least((half, half), 40) == (AtLeast(half, 40), AtLeast(half, 40))
    assert with_least((half, half), [60, 20]) == (AtLeast(half, 60), AtLeast(half, 20))
    with pytest.raises(CascadaError, match="at_least has 3 numbers, but this ranker drops candidates at 2 exits"):
        with_least((half, half), [60, 20, 5])
