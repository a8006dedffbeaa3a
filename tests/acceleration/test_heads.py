"""Heads on stored states learn the model's own order."""

import numpy as np
import pytest
import torch

from cascada.acceleration.heads import (
    WIDTHS,
    Lists,
    fold_input_scaling,
    fold_output_scaling,
    learn_head,
    learn_heads,
    ranks_of_best,
    score_scaling,
)
from cascada.systems.cross_encoder.heads import new_head
from cascada.systems.cross_encoder.shape import ExitHead


@pytest.fixture(scope="module")
def lists():
    """States of 60 questions with 20 candidates, in which the model's score is one direction among noise."""
    chance = np.random.default_rng(0)
    states = chance.normal(size=(1200, 16)).astype(np.float32) * 3 + 1
    scores = (states[:, :4].sum(1) + 0.5 * chance.normal(size=1200)).astype(np.float32)
    return Lists(states, scores, np.repeat(np.arange(60), 20))


@pytest.fixture(scope="module")
def learned(lists):
    return learn_head(lists.take(np.arange(40)), lists.take(np.arange(40, 60)), 8, seed=1)


def test_a_head_ranks_the_models_best_candidate_high_on_other_questions(lists, learned):
    assert len(learned.ranks) == 20
    assert learned.ranks.mean() < 2
    other = lists.take(np.arange(40, 60))
    scores = learned.head(torch.from_numpy(other.states)).detach().numpy()[:, 0]
    assert np.array_equal(ranks_of_best(scores, other.scores, other.owner), learned.ranks)


def test_a_heads_scores_estimate_the_models_own(lists, learned):
    other = lists.take(np.arange(40, 60))
    scores = learned.head(torch.from_numpy(other.states)).detach().numpy()[:, 0]
    assert np.abs(scores - other.scores).mean() < 0.3 * other.scores.std()


def test_learning_again_gives_the_same_head(lists, learned):
    again = learn_head(lists.take(np.arange(40)), lists.take(np.arange(40, 60)), 8, seed=1)
    for name, weight in learned.head.state_dict().items():
        assert torch.equal(weight, again.head.state_dict()[name])


def test_scaling_is_folded_into_the_weights(lists):
    head = new_head(ExitHead("both", width=8), 8)
    states = torch.from_numpy(lists.states)
    mean, scale = states.mean(0), states.std(0)
    wanted = 3 * head((states - mean) / scale) - 2
    fold_input_scaling(head, mean, scale)
    fold_output_scaling(head, 3, -2)
    assert torch.allclose(head(states), wanted, atol=1e-4)


def test_scaling_never_turns_an_order_around():
    scores = np.array([1, 2, 3], np.float32)
    assert score_scaling(scores, -scores)[0] > 0
    assert score_scaling(np.ones(3, np.float32), scores) == (1.0, 1.0)


def test_the_rank_of_the_best_counts_from_one_within_each_question():
    wanted = np.array([0, 5, 1, 9, 3], np.float32)
    scores = np.array([3, 2, 1, 1, 4], np.float32)
    assert ranks_of_best(scores, wanted, np.array([0, 0, 0, 1, 1])).tolist() == [2, 2]


def test_all_exits_get_heads_of_the_kind_that_serves_them_best(lists):
    width, learned = learn_heads({1: lists, 2: lists}, np.arange(30), np.arange(30, 60))
    assert width in WIDTHS
    assert [len(head.head) for head in learned.values()] == [3 if width else 1] * 2
