"""Heads per level on the exits of a cascade: how they start, and how they are folded into one."""

import numpy as np
import pytest
import torch

from cascada.encoders.encoder import load_encoder
from cascada.objectives.level_heads import score_of
from cascada.objectives.levels import SCHEMES, main_level
from cascada.systems.cascade.hierarchical_heads import folded, with_levels
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape


@pytest.fixture
def cascade(encoder_folder):
    torch.manual_seed(2)
    return CascadeRanker(load_encoder(encoder_folder), CascadeShape((2, 4), max_length=48)).eval()


@pytest.fixture
def inputs():
    ids = torch.from_numpy(np.random.default_rng(0).integers(5, 40, (6, 9)))
    return {"ids": ids, "mask": torch.ones_like(ids, dtype=torch.bool), "types": torch.zeros_like(ids)}


def of(scheme, cascade):
    return with_levels(cascade, SCHEMES[scheme], main_level(SCHEMES[scheme], None))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_level_starts_with_the_scores_that_the_cascade_had(cascade, inputs, scheme):
    before = {exit: score_of(logits) for exit, logits in cascade(**inputs, exits=(2, 4)).items()}
    model = of(scheme, cascade)
    for exit, logits in model(**inputs, exits=(2, 4)).items():
        assert logits.shape == (6, 2 * len(SCHEMES[scheme]))
        for own in model.heads[str(exit)].by_level(logits).values():
            torch.testing.assert_close(score_of(own), before[exit])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_trained_levels_fold_into_one_head_that_scores_as_the_main_level_does(cascade, inputs, scheme):
    model = of(scheme, cascade)
    with torch.no_grad():
        for weight in model.heads.parameters():
            weight += 0.05 * torch.randn_like(weight)
    plain = folded(model)
    for exit, logits in plain(**inputs, exits=(2, 4)).items():
        assert logits.shape == (6, 2)
        main = model.heads[str(exit)].main
        expected = model.heads[str(exit)].by_level(model(**inputs, exits=(exit,))[exit])[main]
        torch.testing.assert_close(score_of(logits), score_of(expected))
    again = CascadeRanker(plain.encoder, plain.shape)
    again.load_state_dict(plain.state_dict())


def test_each_level_learns_by_itself(cascade, inputs):
    model = of("PRI(list)", cascade)
    model(**inputs, exits=(2,))[2][:, 2:4].sum().backward()  # the point level, which reads no other
    head = model.heads["2"]
    assert head.order == ("list", "point", "pair")
    assert head.out["point"].weight.grad.any()
    assert head.out["list"].weight.grad is None or not head.out["list"].weight.grad.any()
