"""Transfer, then adapt: a sequence of ordinary runs, each trained once."""

import pytest
import yaml
from trained import history, weights
from training_data import groups, write_groups

from cascada.core.errors import CascadaError
from cascada.training.recipes import parse_recipe
from cascada.training.settings import Recipe
from cascada.training.tanda import steps, train_tanda

PATIENCE = 600
"""Seconds, for a machine that is busy with something else."""


@pytest.fixture
def content(content_in, tmp_path, words):
    """A `tanda` recipe as a mapping: two targets, both learnable."""
    base = content_in(tmp_path)
    transfer = write_groups(tmp_path / "transfer.jsonl", groups(words[:20], 30, 7))
    target = {"train": base["train"], "dev": base["dev"], "adapt": {"epochs": 1, "learning_rate": 1e-4}}
    return {
        "kind": "tanda",
        "output": str(tmp_path / "tanda"),
        "model": base["model"],
        "transfer": {"train": {"source": str(transfer)}, "training": base["training"]},
        "targets": {"one": target, "two": {**target, "finetune": {"epochs": 1}}},
    }


def plan(content, **changes):
    return list(steps(parse_recipe({**content, **changes}, "recipe")))


def names(recipes: list[Recipe]) -> list[str]:
    return [recipe.output.rpartition("/")[2] for recipe in recipes]


@pytest.mark.parametrize(
    ("method", "folders"),
    [
        ("tanda", ["transfer", "adapt-one", "adapt-two"]),
        ("target", ["target-one", "target-two"]),
        ("transfer", ["transfer"]),
        ("union", ["union-one", "union-two"]),
    ],
)
def test_each_method_is_a_sequence_of_runs_in_their_own_folders(content, method, folders):
    assert names(plan(content, method=method)) == folders


def test_the_adapt_step_continues_from_the_transferred_ranker(content):
    transfer, one, two = plan(content)
    assert one.model.encoder == two.model.encoder == transfer.output
    assert transfer.model.encoder == content["model"]["encoder"]


def test_the_targets_dev_set_chooses_in_both_steps(content, data):
    assert all(step.dev.source == str(data / "dev.jsonl") for step in plan(content))


def test_fine_tuning_uses_its_own_settings_or_the_transfers(content):
    one, two = plan(content, method="target")
    assert one.training.epochs == content["transfer"]["training"]["epochs"]
    assert two.training.epochs == 1
    assert one.model.encoder == content["model"]["encoder"]


def test_the_union_trains_on_both_sets(content):
    one, _ = plan(content, method="union")
    assert [one.train.source, one.train.also[0].source] == [
        content["targets"]["one"]["train"]["source"],
        content["transfer"]["train"]["source"],
    ]


def test_running_a_recipe_again_trains_nothing_twice(content, tmp_path):
    recipe = parse_recipe(content, "recipe")
    transfer, one, two = train_tanda(recipe)
    assert (weights(one) == weights(transfer)) is False
    assert history(one)["dev"][-1]["MAP"] >= history(transfer)["dev"][-1]["MAP"] - 0.05
    before = {folder: (folder / "model.safetensors").stat().st_mtime_ns for folder in (transfer, one, two)}
    assert train_tanda(recipe) == [transfer, one, two]
    assert {folder: (folder / "model.safetensors").stat().st_mtime_ns for folder in before} == before


def test_another_target_is_adapted_from_the_same_transferred_ranker(content, tmp_path):
    kept = str(tmp_path / "kept")
    content["transfer"]["output"] = kept
    first = {**content, "targets": {"one": content["targets"]["one"]}}
    train_tanda(parse_recipe(first, "recipe"))
    written_at = (tmp_path / "kept" / "model.safetensors").stat().st_mtime_ns
    second = {**content, "output": str(tmp_path / "second"), "targets": {"two": content["targets"]["two"]}}
    folders = train_tanda(parse_recipe(second, "recipe"))
    assert [folder.name for folder in folders] == ["kept", "adapt-two"]
    assert (tmp_path / "kept" / "model.safetensors").stat().st_mtime_ns == written_at


@pytest.mark.parametrize("step", ["transfer", "adapt-one"])
def test_a_run_killed_in_either_step_is_finished_by_the_same_command(content, tmp_path, start, kill_at, step):
    del content["targets"]["two"]
    content["transfer"]["training"] |= {"checkpoint_every": 2}
    content["targets"]["one"]["adapt"] |= {"epochs": 6, "checkpoint_every": 2}
    path = tmp_path / "tanda.yaml"

    def finished(content):
        path.write_text(yaml.safe_dump(content))
        process = start("train", path)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said

    finished({**content, "output": str(tmp_path / "whole")})
    path.write_text(yaml.safe_dump(content))
    kill_at(3, step, "train", path)
    assert any((tmp_path / "tanda" / step / "checkpoints").glob("checkpoint-2/complete"))
    assert not (tmp_path / "tanda" / step / "cascada.json").exists()
    finished(content)
    assert weights(tmp_path / "tanda" / "adapt-one") == weights(tmp_path / "whole" / "adapt-one")


def test_a_tanda_recipe_without_targets_is_a_mistake(content):
    with pytest.raises(CascadaError, match="targets"):
        parse_recipe({**content, "targets": {}}, "recipe")


def test_an_unknown_kind_is_a_mistake_that_lists_the_known_ones():
    with pytest.raises(CascadaError, match="train, tanda, study"):
        parse_recipe({"kind": "magic"}, "recipe")
