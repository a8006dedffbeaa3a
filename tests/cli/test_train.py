"""The command around a training run; what a run does is tested in `tests/training`."""

import json

import pytest
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.core.errors import CascadaError
from cascada.training import single_run

BEST = {"update": 4, "epoch": 1.0, "MAP": 0.75, "MRR": 0.8}


@pytest.fixture
def trained(monkeypatch, tmp_path):
    """The recipes that were trained; training itself only leaves a history."""
    recipes = []

    def train(recipe):
        recipes.append(recipe)
        history = {"train": [], "dev": [BEST, {**BEST, "epoch": 2.0, "MAP": 0.7}]}
        (tmp_path / "history.json").write_text(json.dumps(history))
        return tmp_path

    monkeypatch.setattr(single_run, "train_model", train)
    return recipes


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text("{output: run, model: {encoder: e}, train: {source: a.jsonl}, dev: {source: b.jsonl}}")
    return str(path)


def said(*arguments):
    result = CliRunner().invoke(app, ["train", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_it_prints_the_folder_and_the_best_dev_measure(trained, recipe, tmp_path):
    assert said(recipe) == f"{tmp_path}: dev MAP 0.7500 after epoch 1\n"
    assert json.loads(said(recipe, "--json")) == {"model": str(tmp_path), "best": BEST}


def test_settings_can_be_changed_without_touching_the_recipe(trained, recipe):
    said(recipe, "--set", "training.epochs=7", "--set", "training.batch.by=pairs", "--set", "output=a=b")
    (made,) = trained
    assert (made.training.epochs, made.training.batch.by, made.output) == (7, "pairs", "a=b")


@pytest.mark.parametrize("change", ["training.epochs", "=3"])
def test_a_change_without_key_or_value_is_rejected(trained, recipe, change):
    with pytest.raises(CascadaError, match=f"--set {change}: expected key=value"):
        said(recipe, "--set", change)


def test_of_several_processes_only_the_first_prints(trained, recipe, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    assert said(recipe) == ""
