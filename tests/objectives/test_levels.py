"""Figure 3: which level's features feed which."""

import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.objectives.level_heads import LevelHeads, logits_of, score_of
from cascada.objectives.levels import SCHEMES, checked_levels, levels_needed, levels_seen, main_level

WIDTH = 4


def gradients(scheme, level):
    """The levels whose own features a level's prediction depends on."""
    levels = SCHEMES[scheme]
    own = {name: torch.ones(1, WIDTH, requires_grad=True) for name in levels}
    torch.manual_seed(0)
    LevelHeads(levels, WIDTH, 32, 0.0)(own)[level].sum().backward()
    return {name for name, feature in own.items() if feature.grad is not None and feature.grad.any()}


def test_all_eleven_models_and_three_ablations_are_there():
    assert len(SCHEMES) == 12, "MTL is one training with three readings"
    assert all(checked_levels(levels) == dict(levels) for levels in SCHEMES.values())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_level_in_the_name_is_the_one_that_ranks(scheme):
    main = main_level(SCHEMES[scheme], None)
    assert scheme == "MTL" or main.partition("-")[0] in scheme


@pytest.mark.parametrize(
    ("scheme", "level", "reads"),
    [
        ("MTL", "point", {"point"}),
        ("MTL", "list", {"list"}),
        ("RI(point)", "point", {"point", "pair", "list"}),
        ("RI(point)", "list", {"list"}),
        ("RI(pair)", "pair", {"point", "pair", "list"}),
        ("RI(list)", "pair", {"pair"}),
        ("PRI(list)", "pair", {"point", "pair"}),
        ("PRI(list)", "list", {"point", "pair", "list"}),
        ("PRI(point)", "pair", {"pair", "list"}),
        ("PRI(point)", "point", {"point", "pair", "list"}),
        ("PRI(list) without point", "list", {"pair", "list"}),
        ("PRI(list) without pair", "list", {"point", "list"}),
        ("PRI(all list)", "list-3", {"list-1", "list-2", "list-3"}),
    ],
)
def test_a_prediction_sees_the_features_that_the_paper_lets_it_see(scheme, level, reads):
    assert gradients(scheme, level) == reads == set(levels_needed(SCHEMES[scheme], level))


def test_features_grow_as_they_are_handed_on():
    assert levels_seen(SCHEMES["PRI(list)"]) == {"point": 1, "pair": 2, "list": 3}
    assert levels_seen(SCHEMES["RI(pair)"]) == {"point": 1, "list": 1, "pair": 3}


def test_one_level_alone_is_what_it_is_among_all():
    levels = SCHEMES["RI(pair)"]
    heads = LevelHeads(levels, WIDTH, 8, 0.0)
    own = {name: torch.randn(3, WIDTH) for name in levels}
    together = heads(own)
    assert torch.equal(heads.only("pair", own), together["pair"])
    assert torch.equal(heads.only("point", {"point": own["point"]}), together["point"])


def test_point_has_two_logits_and_the_others_a_score():
    outputs = LevelHeads(SCHEMES["MTL"], WIDTH, 8, 0.0)({name: torch.randn(5, WIDTH) for name in SCHEMES["MTL"]})
    assert {level: tuple(output.shape) for level, output in outputs.items()} == {
        "point": (5, 2),
        "pair": (5, 1),
        "list": (5, 1),
    }
    for output in outputs.values():
        logits = logits_of(output)
        torch.testing.assert_close(logits[:, 1] - logits[:, 0], score_of(output))


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ({}, "at least one level"),
        ({"word": ()}, "Level word: there are point, pair, list"),
        ({"list": ("pair",), "pair": ()}, "Level list reads pair, which is not a level before it"),
        ({"list": ("list",)}, "Level list reads list"),
    ],
)
def test_levels_that_cannot_be_computed_are_a_sentence(levels, said):
    with pytest.raises(CascadaError, match=said):
        checked_levels(levels)


def test_a_main_level_that_is_not_there_is_a_sentence():
    with pytest.raises(CascadaError, match="The main level is pair, but the levels are point, list"):
        main_level({"point": (), "list": ()}, "pair")
