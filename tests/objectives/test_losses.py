"""The losses against slow references: point by its formula, pair and list by the paper's equations 8 and 9."""

import math
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cascada.objectives.losses import list_level, pair, point

numbers = st.floats(-4, 4, width=32)
questions = st.lists(st.lists(st.tuples(numbers, st.integers(0, 1)), min_size=1, max_size=6), min_size=1, max_size=5)


def sigmoid(score):
    return 1 / (1 + math.exp(-score))


def slow_pair(question, margin, against, normalise):
    """Equation 8 for one question, or None if it has no pairs."""
    scores = [(sigmoid(score) if normalise == "sigmoid" else score, label) for score, label in question]
    positives = [score for score, label in scores if label]
    negatives = [score for score, label in scores if not label]
    if not positives or not negatives:
        return None
    others = negatives if against == "all" else [max(negatives)]
    pairs = list(product(positives, others))
    return sum(max(0.0, margin - (own - other)) for own, other in pairs) / len(pairs)


def slow_list(question):
    """Equation 9 for one question, or None if nothing in it is correct."""
    correct = sum(label for _, label in question)
    if not correct:
        return None
    total = sum(math.exp(score) for score, _ in question)
    parts = [(label / correct, math.exp(score) / total) for score, label in question]
    return sum(y * math.log(y / p) for y, p in parts if y) / len(question)


def slow_mean(losses):
    counted = [loss for loss in losses if loss is not None]
    return sum(counted) / len(counted) if counted else 0.0


def batch(groups, order=None):
    """Scores, labels and owners, end to end or in another order."""
    rows = [(score, label, owner) for owner, group in enumerate(groups) for score, label in group]
    rows = [rows[index] for index in order] if order else rows
    scores, labels, owner = zip(*rows, strict=True)
    return torch.tensor(scores, requires_grad=True), torch.tensor(labels), torch.tensor(owner)


@given(questions, st.sampled_from(["all", "hardest"]), st.sampled_from(["none", "sigmoid"]))
@settings(max_examples=60)
def test_pair_is_equation_8_on_groups_of_any_size(groups, against, normalise):
    expected = slow_mean([slow_pair(group, 0.8, against, normalise) for group in groups])
    found = pair(*batch(groups), margin=0.8, against=against, normalise=normalise)
    assert found.item() == pytest.approx(expected, abs=1e-5)


@given(questions)
@settings(max_examples=60)
def test_list_is_equation_9_on_groups_of_any_size(groups):
    assert list_level(*batch(groups)).item() == pytest.approx(slow_mean(map(slow_list, groups)), abs=1e-5)


GROUPS = [[(0.3, 1), (-1.0, 0), (2.0, 0)], [(0.5, 0), (0.1, 0)], [(1.0, 1), (0.2, 1), (0.7, 0), (0.1, 0)], [(0.9, 1)]]
OBJECTIVES = {
    "pair": pair,
    "hardest": lambda *rows: pair(*rows, against="hardest"),
    "sigmoid": lambda *rows: pair(*rows, normalise="sigmoid", margin=0.8),
    "list": list_level,
}
every = pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)


@every
def test_a_batch_need_not_lay_a_questions_rows_side_by_side(objective):
    shuffled = torch.randperm(10, generator=torch.Generator().manual_seed(3)).tolist()
    torch.testing.assert_close(objective(*batch(GROUPS)), objective(*batch(GROUPS, shuffled)))


@every
def test_a_question_does_not_see_the_others(objective):
    together = objective(*batch(GROUPS[:1] + GROUPS[2:3]))
    apart = [objective(*batch([group])) for group in (GROUPS[0], GROUPS[2])]
    torch.testing.assert_close(together, torch.stack(apart).mean())


@every
def test_a_batch_without_correct_candidates_has_no_loss_and_no_gradient(objective):
    scores, *others = batch([[(1.5, 0), (-0.5, 0)]])
    loss = objective(scores, *others)
    loss.backward()
    assert (loss.item(), scores.grad.tolist()) == (0.0, [0.0, 0.0])


@every
def test_where_all_are_correct_only_a_list_has_a_target_which_is_that_all_are_the_same(objective):
    scores, *others = batch([[(1.5, 1), (-0.5, 1)]])
    objective(scores, *others).backward()
    above, below = scores.grad.tolist()
    assert above > 0 > below if objective is list_level else (above, below) == (0.0, 0.0)


@every
def test_the_gradient_lifts_the_correct_and_lowers_the_wrong(objective):
    scores, labels, owner = batch(GROUPS[2:3])
    objective(scores, labels, owner).backward()
    right, wrong = scores.grad[labels == 1], scores.grad[labels == 0]
    assert right.sum() < 0 < wrong.sum()


@every
def test_the_gradient_is_that_of_small_differences(objective):
    scores, labels, owner = batch(GROUPS)
    doubles = scores.detach().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda values: objective(values, labels, owner), (doubles,))


@every
def test_large_scores_do_not_overflow(objective):
    scores, labels, owner = batch([[(900.0, 0), (-900.0, 1), (899.0, 1)]])
    loss = objective(scores, labels, owner)
    loss.backward()
    assert loss.isfinite()
    assert scores.grad.isfinite().all()


def test_the_papers_example_two_positives_and_three_negatives_make_six_pairs_or_three():
    scores, labels, owner = batch([[(0.0, 1), (0.0, 1), (3.0, 0), (0.0, 0), (0.0, 0)]])
    assert pair(scores, labels, owner).item() == pytest.approx((2 * 4 + 4 * 1) / 6)
    assert pair(scores, labels, owner, against="hardest").item() == pytest.approx(4.0)


# Point

LOGITS = torch.tensor([[0.3, -0.2], [1.0, 2.0], [0.0, 0.5]])
LABELS = torch.tensor([0, 1, 0])


def by_hand(weight):
    losses = []
    for (wrong, right), label in zip(LOGITS.tolist(), LABELS.tolist(), strict=True):
        chosen = right if label else wrong
        losses.append(math.log(math.exp(wrong) + math.exp(right)) - chosen)
    weights = [weight if label else 1.0 for label in LABELS.tolist()]
    return sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)


@pytest.mark.parametrize("weight", [1.0, 5.0])
def test_the_loss_is_the_weighted_mean_of_cross_entropies(weight):
    assert point(LOGITS, LABELS, positive_weight=weight).item() == pytest.approx(by_hand(weight), rel=1e-6)


def test_a_correct_pair_of_weight_two_counts_as_two_pairs():
    twice = point(torch.cat([LOGITS, LOGITS[1:2]]), torch.cat([LABELS, LABELS[1:2]]))
    torch.testing.assert_close(point(LOGITS, LABELS, positive_weight=2.0), twice)


def test_a_group_without_a_correct_pair_has_a_loss():
    assert point(LOGITS, torch.zeros(3, dtype=torch.long), positive_weight=3.0).isfinite()
