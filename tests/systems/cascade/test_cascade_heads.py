"""The heads of exits against the formulas of the papers."""

import pytest
import torch
from torch import nn

from cascada.systems.cascade.heads import HEADS, FirstTokenHead, MeanHead, MeanWithoutFirstHead

HIDDEN = 6


@pytest.fixture
def states():
    torch.manual_seed(0)
    return torch.randn(3, 5, HIDDEN)


@pytest.fixture
def mask():
    return torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=torch.bool)


def test_the_first_token_head_is_w_tanh_x_plus_b(states, mask):
    head = FirstTokenHead(HIDDEN, dropout=0.1).eval()
    for pair, logits in zip(states, head(states, mask), strict=True):
        expected = head.out.weight @ torch.tanh(pair[0]) + head.out.bias
        torch.testing.assert_close(logits, expected)


def test_the_first_token_head_reads_the_first_token_alone(states, mask):
    head = FirstTokenHead(HIDDEN, dropout=0.1).eval()
    changed = states.clone()
    changed[:, 1:] += 1
    assert torch.equal(head(changed, mask), head(states, mask))


def test_the_mean_head_is_a_mean_three_dense_layers_with_tanh_and_two_logits(states, mask):
    head = MeanHead(HIDDEN, dropout=0.1).eval()
    dense = [part for part in head.dense if isinstance(part, nn.Linear)]
    assert [(part.in_features, part.out_features) for part in dense] == [(HIDDEN, HIDDEN)] * 3
    for pair, real, logits in zip(states, mask, head(states, mask), strict=True):
        x = pair[real].mean(0)
        for part in dense:
            x = torch.tanh(part.weight @ x + part.bias)
        torch.testing.assert_close(logits, head.out.weight @ x + head.out.bias)


def test_the_mean_head_ignores_padding(states, mask):
    head = MeanHead(HIDDEN, dropout=0.1).eval()
    changed = states.masked_fill(~mask.unsqueeze(-1), 1000.0)
    assert torch.equal(head(changed, mask), head(states, mask))


@pytest.mark.parametrize("name", HEADS)
def test_heads_drop_out_in_training_only(states, mask, name):
    head = HEADS[name](HIDDEN, 0.5)
    assert not torch.equal(head(states[:2], mask[:2]), head(states[:2], mask[:2]))
    head.eval()
    assert torch.equal(head(states[:2], mask[:2]), head(states[:2], mask[:2]))


def test_the_mean_can_leave_out_the_first_token(states, mask):
    head, plain = MeanWithoutFirstHead(HIDDEN, dropout=0.1).eval(), MeanHead(HIDDEN, dropout=0.1).eval()
    plain.load_state_dict(head.state_dict())
    longer = mask[:2]  # a pair has more than one token
    torch.testing.assert_close(head(states[:2], longer), plain(states[:2, 1:], longer[:, 1:]))
    changed = states.clone()
    changed[:, 0] += 1
    assert torch.equal(head(changed[:2], longer), head(states[:2], longer))
