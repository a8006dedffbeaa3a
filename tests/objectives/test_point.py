"""The point objective against its formula."""

import math

import pytest
import torch

from cascada.objectives.losses import point

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
