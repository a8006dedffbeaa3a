"""Variants of a recipe over seeds, measured and compared."""

import json

import pytest

from cascada.errors import CascadaError
from cascada.training.recipes import validated
from cascada.training.study import members, run_study


@pytest.fixture
def content(content_in, tmp_path, data):
    base = content_in(tmp_path, epochs=1)
    base["watch"] = base["dev"]
    return {
        "kind": "study",
        "output": str(tmp_path / "study"),
        "base": base,
        "variants": {"clean labels": {}, "half flipped": {"train.noise": 0.5, "training.epochs": 2}},
        "seeds": [1, 2],
        "test": {"dev": {"source": str(data / "dev.jsonl")}},
        "against": "clean labels",
    }


def study(content, **changes):
    return validated({**content, **changes}, "recipe")


def test_members_are_every_variant_with_every_seed(content):
    found = [
        (one.variant, one.seed, one.recipe.training.seed, one.recipe.train.noise) for one in members(study(content))
    ]
    assert found == [
        ("clean labels", 1, 1, 0),
        ("half flipped", 1, 1, 0.5),
        ("clean labels", 2, 2, 0),
        ("half flipped", 2, 2, 0.5),
    ]
    assert len({one.recipe.output for one in members(study(content))}) == 4


def test_a_study_measures_every_member_and_compares(content, tmp_path):
    results = run_study(study(content))
    clean, flipped = results["rows"]
    assert (clean["variant"], flipped["variant"]) == ("clean labels", "half flipped")
    assert len(clean["MAP"]["seeds"]) == 2
    assert clean["MAP"]["mean"] == pytest.approx(sum(clean["MAP"]["seeds"]) / 2)
    assert "against" not in clean
    difference = flipped["MAP"]["mean"] - clean["MAP"]["mean"]
    assert flipped["against"]["difference"] == pytest.approx(difference)
    assert json.loads((tmp_path / "study" / "results.json").read_text()) == results
    table = (tmp_path / "study" / "table.md").read_text()
    assert f"{clean['MAP']['mean']:.4f} ± {clean['MAP']['std']:.4f}" in table
    assert (tmp_path / "study" / "epochs.png").read_bytes().startswith(b"\x89PNG")


def test_a_seed_that_is_added_trains_only_what_is_missing(content, tmp_path):
    run_study(study(content, seeds=[1]))
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").glob("*/model.safetensors")}
    assert len(made) == 2
    run_study(study(content))
    assert {path: path.stat().st_mtime_ns for path in made} == made
    assert len(list((tmp_path / "study").glob("*/model.safetensors"))) == 4


def test_the_seed_of_a_tanda_base_varies_the_adapt_step_and_not_the_transfer(content, tmp_path):
    base = content["base"]
    target = {"train": base["train"], "dev": base["dev"], "adapt": {"epochs": 1}, "finetune": {"epochs": 2}}
    tanda = {
        "kind": "tanda",
        "model": base["model"],
        "transfer": {"train": base["train"], "training": base["training"]},
        "targets": {"dev": target},
    }
    for one in members(study(content, base=tanda, variants={"TANDA": {}, "FT": {"method": "target"}})):
        own = one.recipe.targets["dev"]
        assert own.adapt.seed == own.finetune.seed == one.seed
        assert one.recipe.transfer.training.seed == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"against": "nobody"}, "nobody"),
        (
            {"against": None, "variants": {"x": {"training.epoch": 1}}},
            "variant x: unknown key training.epoch; did you mean epochs?",
        ),
    ],
)
def test_a_mistake_in_a_study_is_one_sentence(content, changes, said):
    with pytest.raises(CascadaError) as caught:
        run_study(study(content, **changes))
    assert said in str(caught.value)
