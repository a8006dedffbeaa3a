"""A margin drops who scores too far below a question's best, and leaves a least number."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cascada.core.errors import CascadaError
from cascada.ranking.cost import CostModel
from cascada.ranking.executor import survivors
from cascada.ranking.plan import Margin, drop_plan, dropped, dropped_of, margin_plan, plan_dict, with_least
from cascada.ranking.plan_file import read_plan, write_plan


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-8, 8)), min_size=1, max_size=30),
    st.integers(0, 20),
    st.integers(1, 6),
)
def test_each_question_keeps_who_is_within_the_margin_of_its_own_best(rows, quarters, keep):
    owner, scores = np.array([row[0] for row in rows]), np.array([row[1] / 4 for row in rows], np.float32)
    rule = Margin(Decimal(quarters) / 4, keep)
    left = survivors(scores, owner, rule)
    for question in set(owner.tolist()):
        own = np.flatnonzero(owner == question)
        within = {row for row in own.tolist() if scores[row] >= scores[own].max() - quarters / 4}
        best = {own[place] for place in np.argsort(-scores[own], kind="stable")[:keep].tolist()}
        assert set(left.tolist()) & set(own.tolist()) == within | best


def test_questions_with_a_clear_best_run_fewer_layers_than_others():
    clear, close = np.array([5, 0, 0, 0], np.float32), np.array([1, 0.9, 0.8, 0.7], np.float32)
    assert [dropped_of(Margin(Decimal(2)), scores) for scores in (clear, close)] == [3, 0]


def test_batches_are_sized_for_nobody_being_dropped():
    assert CostModel((4, 12), margin_plan([0.5], 2)).relative_cost(100) == 1


def test_where_most_are_within_the_margin_a_share_is_dropped_all_the_same():
    scores = np.array([3, 2.9, 2.8, 2.7, 2.6, -5, -5, -5], np.float32)
    rules = [Margin(Decimal(1), 1, Decimal(share)) for share in ("0", "0.25", "0.5")]
    assert [dropped_of(rule, scores) for rule in rules] == [3, 3, 4]
    assert dropped_of(Margin(Decimal(1), 5, Decimal("0.5")), scores) == 3, "at least 5 stay"
    plan = margin_plan([1.0], 2, [2], [0.6])
    assert CostModel((4, 12), plan).relative_cost(100) == CostModel((4, 12), drop_plan(0.6, 2)).relative_cost(100)
    assert dropped(plan[0], 3) == 1


def test_a_plan_of_margins_and_shares_is_saved_and_read(tmp_path):
    plan = margin_plan([2.0, 1.0], 3, [20, 5], [0.6, 0])
    write_plan(tmp_path, plan, (0, 4, 6), {})
    assert read_plan(tmp_path, (0, 4, 6)) == plan
    assert plan_dict(plan) == {"margin": [2, 1], "drop": [0.6, 0], "at_least": [20, 5]}
    with pytest.raises(CascadaError, match="drop has 1 ratios"):
        margin_plan([2.0, 1.0], 3, [20, 5], [0.6])


def test_a_plan_of_margins_is_saved_and_read(tmp_path):
    plan = with_least(margin_plan([Decimal("1.25"), Decimal("0.5")], 3), 40)
    write_plan(tmp_path, plan, (0, 4, 6), {})
    assert read_plan(tmp_path, (0, 4, 6)) == plan
    assert plan_dict(plan) == {"margin": [1.25, 0.5], "at_least": [40, 40]}
    assert plan_dict(margin_plan([1.0], 2)) == {"margin": [1.0]}


@pytest.mark.parametrize("margins", [[-1.0], [float("nan")], [float("inf")], [True], [1.0, 2.0]])
def test_a_margin_is_a_number_from_0_for_each_exit_but_the_last(margins):
    with pytest.raises(CascadaError, match="margin"):
        margin_plan(margins, 2)


def test_a_damaged_margin_is_refused_in_one_sentence(tmp_path):
    path = write_plan(tmp_path, margin_plan([1.0], 2), (4, 6), {})
    path.write_text(path.read_text().replace('"1.0"', '"wide"'))
    with pytest.raises(CascadaError, match="is damaged"):
        read_plan(tmp_path, (4, 6))
