"""The Python API: train, evaluate, tune and export, and the page that shows them from end to end."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cascada
from cascada.api import Progress
from cascada.data import Candidate, Group, load, read_run, write_run

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "python.md"


@pytest.fixture
def data(tmp_path, words) -> Path:
    """Twelve questions with eight candidates."""
    groups = [
        {
            "question": f"{words[number]} {words[number + 20]}",
            "candidates": [
                {"text": f"{words[7 * place + number]} {words[place]}", "label": int(place % 4 == number % 4)}
                for place in range(8)
            ],
        }
        for number in range(12)
    ]
    path = tmp_path / "groups.jsonl"
    path.write_text("".join(json.dumps(group) + "\n" for group in groups))
    return path


@pytest.fixture
def model(tmp_path, cascade_folder) -> Path:
    return shutil.copytree(cascade_folder, tmp_path / "model")


def test_the_page_runs_from_end_to_end(tmp_path, encoder_folder, monkeypatch, capsys):
    """Every block in order, with a tiny encoder in place of the one that the page names."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    code = "\n".join(blocks)
    assert "intfloat/e5-small" in code
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(code.replace("intfloat/e5-small", str(encoder_folder)), str(PAGE), "exec"), names)
    assert Path(names["trained"].model) == tmp_path / "runs" / "cascade"
    assert names["result"].questions == len(names["questions"]) - 30
    assert names["ranker"].plan == names["tuning"].chosen.plan
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "What to expect" in printed
    assert printed.splitlines()[-1] == "The recipe: unknown key training.epoch; did you mean epochs?"


def test_the_functions_are_found_on_the_package_and_imported_when_used():
    assert {"ask", "evaluate", "export", "train", "tune", "CascadaError"} <= {*dir(cascada), *cascada.__all__}
    assert cascada.ask is __import__("cascada.search").search.ask
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        cascada.trian  # noqa: B018
    code = "import sys, cascada; print('cascada.api' in sys.modules); cascada.train; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == ["False", "False"]


# Train


def test_a_recipe_may_be_a_file_or_a_mapping_that_is_left_unchanged(tmp_path, monkeypatch):
    recipes = []
    monkeypatch.setattr("cascada.training.train.train", lambda recipe: recipes.append(recipe) or [])
    content = {"output": tmp_path / "run", "model": {"encoder": "e"}, "train": {"source": "a"}, "dev": {"source": "b"}}
    file = tmp_path / "recipe.yaml"
    file.write_text(json.dumps(content, default=str))
    for recipe in (content, file, str(file)):
        assert cascada.train(recipe, {"training.epochs": 7, "training.batch.by": "pairs"}) == []
    assert recipes[0] == recipes[1] == recipes[2]
    assert (recipes[0].training.epochs, recipes[0].training.batch.by) == (7, "pairs")
    assert "training" not in content


def test_a_mistake_in_a_recipe_is_reported_by_its_key():
    with pytest.raises(cascada.CascadaError, match=r"The recipe: .*kind is 'tune'"):
        cascada.train({"kind": "tune"})


# Evaluate


def test_a_name_a_ranker_and_a_run_give_the_same_measures(data, model, tmp_path):
    by_name = cascada.evaluate(model, data)
    by_ranker = cascada.evaluate(cascada.Ranker.load(model), load(data, mode="clean"))
    write_run(by_name.run, tmp_path / "run.trec")
    by_run = cascada.evaluate(tmp_path / "run.trec", data)
    assert by_name.measures == by_ranker.measures == by_run.measures
    assert by_name.run == by_ranker.run
    assert read_run(tmp_path / "run.trec") == by_run.run
    assert by_name.costs["relative_cost"] == 1
    assert (by_run.costs, by_run.questions) == ({}, 12)
    assert by_name.to_dict().keys() == {*by_name.measures, "questions", "seconds", *by_name.costs}


def test_groups_need_no_ids_and_the_mode_applies_to_them():
    answers = (Candidate("red fox", 1), Candidate("blue", 0))
    groups = [Group("red fox?", answers), Group("who?", (Candidate("blue", 0),))]
    assert cascada.evaluate("bm25", groups).questions == 1
    assert cascada.evaluate("bm25", groups, mode="raw").questions == 2
    with pytest.raises(cascada.CascadaError, match="no questions in mode clean"):
        cascada.evaluate("bm25", groups[1:])


def test_a_comparison_with_another_run(data, model):
    baseline = cascada.evaluate("bm25", data, measures=["MAP"])
    result = cascada.evaluate(model, data, measures=["MAP"], against=baseline.run)
    difference = result.measures["MAP"] - baseline.measures["MAP"]
    assert result.comparisons["MAP"].difference == pytest.approx(difference)
    assert result.to_dict()["against"]["MAP"]["difference"] == pytest.approx(difference)


def test_progress_counts_every_pair(data):
    steps = []
    cascada.evaluate("bm25", data, on_progress=steps.append)
    assert [step.done for step in steps] == list(range(8, 97, 8))
    assert steps[-1] == Progress("ranking", 96, 96, "pairs")


def test_what_belongs_to_a_ranker_is_rejected_for_a_run(data, tmp_path):
    run = cascada.evaluate("bm25", data).run
    write_run(run, tmp_path / "run.trec")
    for options in ({"drop": 0.5}, {"keep": [1]}, {"store": tmp_path}):
        with pytest.raises(cascada.CascadaError, match="belong to a ranker"):
            cascada.evaluate(tmp_path / "run.trec", data, **options)
    with pytest.raises(cascada.CascadaError, match="already loaded"):
        cascada.evaluate(cascada.Ranker.load("bm25"), data, store=tmp_path)


# Tune


def test_the_chosen_plan_is_saved_and_its_figures_are_those_of_evaluate(data, model):
    steps = []
    tuning = cascada.tune(model, data, grid=[0, 0.25, 0.5], budget=0.8, save=True, on_progress=steps.append)
    assert {step.step for step in steps} == {"ranking", "replaying"}
    assert len(tuning.settings.plans) == 3
    assert cascada.Ranker.load(model).plan == tuning.chosen.plan
    measured = cascada.evaluate(model, data)
    assert measured.measures["MAP"] == pytest.approx(tuning.chosen.figures["MAP"])
    assert tuning.title == f"{model} on {data} (clean)"


def test_saved_scores_need_no_model(data, model, tmp_path, monkeypatch):
    first = cascada.tune(model, data, scores=tmp_path / "scores.npz")
    monkeypatch.setattr(cascada.Ranker, "load", None)
    again = cascada.tune(model, data, scores=tmp_path / "scores.npz")
    assert again.to_dict() == first.to_dict()
    np.testing.assert_array_equal(again.settings.columns["MAP"], first.settings.columns["MAP"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"budget": 0.5, "keep_best": 0.9}, "give one of them"),
        ({"budget": 1.5}, r"budget is 1\.5; it must be a number from 0 to 1"),
        ({"loss": float("nan")}, "loss is nan"),
        ({"keep_best": 1.0}, "between 0 and 1"),
        ({"grid": [0, 1]}, "drop ratio"),
        ({"grid": []}, "The grid is empty"),
        ({"grid": "papre"}, "grid is 'papre'; it must be default, paper, or a list of drop ratios"),
        ({"measure": "MAPP"}, "MAPP"),
        ({"picture": "front.doc"}, r"must end in \.png, \.svg, \.pdf"),
        ({"scores": "nowhere/scores.npz"}, "there is no folder nowhere"),
    ],
)
def test_a_mistake_is_reported_before_anything_is_loaded(options, sentence):
    with pytest.raises(cascada.CascadaError, match=sentence):
        cascada.tune("no-such-model", "no-such-data.jsonl", **options)


# Export


def test_an_export_ranks_as_the_trained_ranker_does(data, model, tmp_path):
    steps = []
    exported = cascada.export(model, tmp_path / "out", precision="fp32", data=data, on_progress=steps.append)
    assert exported.agreement.largest_difference < 1e-4
    assert exported.bytes == sum(path.stat().st_size for path in exported.folder.iterdir())
    assert steps[-1] == Progress("comparing", 192, 192, "pairs")
    assert exported.to_dict()["MAP"] == cascada.evaluate(tmp_path / "out", data).measures["MAP"]


def test_without_data_an_export_is_not_compared(model, tmp_path):
    exported = cascada.export(model, str(tmp_path / "out"))
    assert exported.agreement is None
    assert exported.to_dict() == {"path": str(tmp_path / "out"), "bytes": exported.bytes}
