"""The cost of a ranking, computed in advance: the paper's figures, batch sizes and FLOPs."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from table_stages import Case, cases

from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.ranking.cost import CostModel, TransformerFlops, survivors_into
from cascada.ranking.plan import drop_plan, keep_plan

EXITS = (4, 6, 8, 10, 12)


def cost_model(drop, *, exits=EXITS, sequential=False):
    return CostModel(exits, drop_plan(drop, len(exits)), sequential)


# The paper's figures: twelve layers, 128 candidates

CASCADE = {
    0.3: ([128, 90, 63, 45, 32], 972, 0.633),
    0.4: ([128, 77, 47, 29, 18], 854, 0.556),
    0.5: ([128, 64, 32, 16, 8], 752, 0.490),
}


@pytest.mark.parametrize(("drop", "survivors", "spent", "cost"), [(drop, *row) for drop, row in CASCADE.items()])
def test_the_cascades_of_the_paper(drop, survivors, spent, cost):
    model = cost_model(drop)
    assert survivors_into(model.plan, 128) == survivors
    assert model.layers == [4, 2, 2, 2, 2]
    assert sum(model.layer_candidates(128)) == spent
    assert round(model.relative_cost(128), 3) == cost


@pytest.mark.parametrize(("drop", "cost"), [(0.3, 1.556), (0.4, 1.208), (0.5, 0.917)])
def test_the_sequential_rankers_of_the_paper(drop, cost):
    model = cost_model(drop, sequential=True)
    assert model.layers == list(EXITS)
    assert round(model.relative_cost(128), 3) == cost


def test_without_drops_a_cascade_costs_as_much_as_its_last_model():
    assert cost_model(0).relative_cost(128) == 1
    assert cost_model(0, sequential=True).relative_cost(128) == pytest.approx(40 / 12)


def test_keep_counts_are_upper_bounds():
    model = CostModel(EXITS, keep_plan([64, 64, 10, 20], 5))
    assert survivors_into(model.plan, 128) == [128, 64, 64, 10, 10]
    assert survivors_into(model.plan, 5) == [5] * 5


@given(cases(stages=2))
@settings(max_examples=50)
def test_the_cost_model_predicts_the_cost_of_a_ranking(case):
    layers = [1 + number for number in case.layers]
    model = CostModel(tuple(np.cumsum(layers).tolist()), tuple(case.rules))
    for group in case.groups:
        alone = Case([group], case.plan, layers)
        ranking = Ranker(alone.stages(), plan=model.plan).rank("who?", alone.names[0])
        assert [stage.candidates for stage in ranking.stages] == survivors_into(model.plan, len(group))
        assert ranking.relative_cost == pytest.approx(model.relative_cost(len(group)), rel=1e-12)


# Batches


def test_the_papers_batch_of_128_fits_where_a_plain_one_of_84_does():
    model = cost_model(0.3)
    assert model.average_batch(128) == 81.0
    assert model.largest_batch(84) >= 128
    assert model.average_batch(model.largest_batch(84)) <= 84


@given(
    st.sampled_from([0, 0.1, 0.3, 0.5, 0.9]),
    st.integers(1, 300),
    st.sampled_from([EXITS, (12,), (1, 2, 3), (2, 24)]),
    st.booleans(),
)
@settings(max_examples=50)
def test_no_larger_batch_fits(drop, limit, exits, sequential):
    model = cost_model(drop, exits=exits, sequential=sequential)
    largest = model.largest_batch(limit)
    assert largest >= limit, "a batch that never grows fits if its first one does"
    assert model.average_batch(largest) <= limit < model.average_batch(largest + 1)


def test_with_keep_counts_only_the_first_batch_grows():
    model = CostModel((4, 12), keep_plan([10], 2))
    assert model.largest_batch(40) == 100  # (4 · 100 + 8 · 10) / 12
    assert model.average_batch(100) == 40


# Operations


def test_a_layers_matrix_products_are_counted():
    tokens, hidden, inner = 7, 4, 16
    products = [(tokens, hidden, hidden)] * 4 + [(tokens, hidden, inner), (tokens, inner, hidden)]
    attention = [(tokens, hidden, tokens), (tokens, tokens, hidden)]
    expected = sum(2 * a * b * c for a, b, c in products + attention)
    assert TransformerFlops(hidden, inner).layer(np.array([tokens])).tolist() == [expected]


def test_a_head_costs_the_same_whatever_the_length():
    tokens = np.array([1, 100])
    assert TransformerFlops(4, 16, "mean").exit_head(tokens).tolist() == [3 * 2 * 16 + 16] * 2
    assert TransformerFlops(4, 16, "first").exit_head(tokens).tolist() == [16] * 2


def test_survivors_are_assumed_to_have_the_average_length():
    counter, tokens = TransformerFlops(384, 1536), np.array([20, 30, 100])
    model = cost_model(0.5)
    flops = model.flops(128, counter, tokens)
    per_candidate = [counter.stage(layers, tokens).mean() for layers in model.layers]
    assert flops == [round(n * cost) for n, cost in zip([128, 64, 32, 16, 8], per_candidate, strict=True)]
    assert cost_model(0).full_flops(128, counter, tokens) == pytest.approx(sum(128 * cost for cost in per_candidate))


def test_the_share_of_flops_is_close_to_the_share_of_layers():
    counter, tokens = TransformerFlops(384, 1536), np.array([44])
    for sequential in (False, True):
        model = cost_model(0.3, sequential=sequential)
        share = sum(model.flops(128, counter, tokens)) / model.full_flops(128, counter, tokens)
        assert share == pytest.approx(model.relative_cost(128), rel=0.01)


@pytest.mark.parametrize("exits", [(), (0,), (4, 4), (6, 4), (-1,)])
def test_exits_that_do_not_ascend_are_rejected(exits):
    with pytest.raises(CascadaError, match="The exits are"):
        CostModel(exits, (Decimal(0),))
