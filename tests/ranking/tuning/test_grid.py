"""Which settings are looked at."""

from decimal import Decimal

import pytest

from cascada.core.errors import CascadaError
from cascada.ranking.tuning import PAPER, default_grid, grid_of


def test_the_papers_grid_has_1296_settings():
    plans = grid_of(PAPER, 5)
    assert len(set(plans)) == 1296
    assert {rule for plan in plans for rule in plan} == {Decimal(f"0.{tenths}") for tenths in range(1, 7)}


def test_the_default_grid_also_skips_exits():
    plans = default_grid(5)
    assert len(plans) == 7**4
    assert (Decimal(0),) * 4 in plans


@pytest.mark.parametrize(("exits", "ratios"), [(2, 7), (6, 7), (7, 4), (9, 3), (12, 2)])
def test_more_exits_make_the_default_grid_coarser(exits, ratios):
    assert len(default_grid(exits)) == ratios ** (exits - 1) <= 20_000


def test_exit_0_is_tried_with_larger_ratios_than_the_others():
    plans = default_grid(4, free=1)
    assert len(plans) == 7**3
    assert max(plan[0] for plan in plans) == Decimal("0.9")
    assert max(rule for plan in plans for rule in plan[1:]) == Decimal("0.6")
    assert (Decimal(0),) * 3 in plans


def test_bm25_before_exit_0_is_tried_with_them_too():
    plans = default_grid(4, free=2)
    assert [max(plan[exit] for plan in plans) for exit in range(3)] == [Decimal("0.9"), Decimal("0.9"), Decimal("0.6")]
    assert len(default_grid(7, free=2)) <= 20_000
    assert {len(plan) for plan in default_grid(2, free=2)} == {1}


def test_too_many_settings_are_rejected_with_their_number():
    with pytest.raises(CascadaError, match="10 ratios at 5 exits are 100,000 settings"):
        grid_of([tenths / 10 for tenths in range(10)], 6)


def test_a_ratio_given_twice_counts_once():
    assert grid_of([0.2, 0.2], 3) == [(Decimal("0.2"), Decimal("0.2"))]


def test_a_ratio_must_be_one():
    with pytest.raises(CascadaError, match=r"1\.0"):
        grid_of([1.0], 3)
