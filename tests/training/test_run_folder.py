"""A run's folder: whether it holds the same run, its lock and its checkpoints."""

import copy

import pytest
import yaml

from cascada.core.errors import CascadaError
from cascada.training import trainer
from cascada.training.recipes import parse_recipe
from cascada.training.run_folder import RECIPE_FILE, claimed, last_complete, mark_complete
from cascada.training.single_run import train_model

DATA = {
    "source": "a.jsonl", "root": None, "split": None, "mode": "raw", "questions": None,
    "grades": None, "noise": 0.0, "noise_seed": 0, "also": [],
}  # fmt: skip
SPANS = {"source": "a.json", "groups": None, "wrong": 10, "questions": None}
TRANSFORMER = {
    "kind": "transformer", "encoder": "e", "layers": None, "exits": None, "head": "mean",
    "dropout": 0.1, "max_length": 256, "levels": None, "main": None,
}  # fmt: skip
COMPARE_AGGREGATE = {
    "kind": "compare-aggregate", "levels": {"point": []}, "main": None, "vectors": None, "vocabulary": [],
    "embedding": 300, "hidden": 300, "channels": 150, "widths": [1, 2, 3, 4, 5], "k_max": None, "dropout": 0.0,
    "max_words": 100,
}  # fmt: skip
DECOUPLED = {
    "kind": "decoupled", "encoder": "e", "join": None, "exits": None, "towers": "two", "interaction": "layers",
    "keep": None, "question_length": 50, "max_length": 256, "dropout": 0.1, "scores": "own",
}  # fmt: skip
READER = {"encoder": "e", "layers": None, "dropout": 0.1, "max_length": 256, "overlap": 64}
TRAINING = {
    "epochs": 3, "learning_rate": 0.0001, "joint_rate": None, "schedule": "linear", "warmup": 0.1,
    "batch": {"by": "tokens", "size": 2000, "accumulate": 1, "others": 0}, "weight_decay": 0.01, "max_gradient": 1.0,
    "positive_weight": 1.0, "negatives": None, "evaluations_per_epoch": 1, "patience": None, "checkpoint_every": None,
    "exits": {"sample": "uniform", "fade": 0.5, "gradient": "embeddings", "distill": 0.0, "temperature": 1.0},
    "objective": {
        "point": None, "pair": None, "list": None, "margin": 1.0, "against": "all", "normalise": "none",
    },
    "teacher": None, "store": None, "seed": 1,
}  # fmt: skip
"""What every run wrote into its folder when all kinds of models had all keys."""


def saved_recipe(model):
    if model is READER:
        return {"kind": "reader", "model": model, "train": SPANS, "dev": SPANS, "training": TRAINING}
    return {"kind": "train", "model": model, "train": DATA, "dev": DATA, "watch": None, "training": TRAINING}


def own_recipe(model, folder):
    """The recipe that a user has: the same, with the defaults left out."""
    source = {"source": (SPANS if model is READER else DATA)["source"]}
    needed = {name: model[name] for name in ("kind", "encoder", "levels") if model.get(name)}
    kind = {"kind": "reader"} if model is READER else {}
    return parse_recipe({**kind, "output": str(folder), "model": needed, "train": source, "dev": source}, "recipe")


@pytest.fixture
def finished(tmp_path):
    """`finished(content)`: the folder of a finished run with this saved recipe."""

    def write(content):
        (tmp_path / RECIPE_FILE).write_text(yaml.safe_dump({**content, "output": "elsewhere"}, sort_keys=False))
        (tmp_path / "cascada.json").touch()
        return tmp_path

    return write


MODELS = {"transformer": TRANSFORMER, "compare-aggregate": COMPARE_AGGREGATE, "decoupled": DECOUPLED, "reader": READER}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_run_with_all_keys_of_all_kinds_is_the_same_run_if_they_have_their_defaults(finished, model):
    folder = finished(saved_recipe(model))
    with claimed(folder, own_recipe(model, folder)):
        pass


@pytest.mark.parametrize(
    ("model", "group", "change"),
    [
        (READER, "training", {"seed": 2}),
        (READER, "training", {"exits": {**TRAINING["exits"], "sample": "all"}}),
        (READER, "training", {"exits": "all"}),
        (READER, "training", {"colour": None}),
        (TRANSFORMER, "training", {"joint_rate": 0.001}),
        (TRANSFORMER, "training", {"batch": {**TRAINING["batch"], "others": 2}}),
        (TRANSFORMER, "model", {"head": "first"}),
        (COMPARE_AGGREGATE, "training", {"store": "documents"}),
    ],
    ids=str,
)
def test_a_run_with_another_value_is_another_run(finished, model, group, change):
    content = copy.deepcopy(saved_recipe(model))
    content[group] |= change
    folder = finished(content)
    with (
        pytest.raises(CascadaError, match="holds a run with other settings"),
        claimed(folder, own_recipe(model, folder)),
    ):
        pass


def with_all_keys(folder):
    """Rewrite the recipe of a run as it was saved when all kinds of models had all keys."""
    content = yaml.safe_load((folder / RECIPE_FILE).read_text())
    training = {**TRAINING, **content["training"]}
    training["batch"] = {**TRAINING["batch"], **content["training"]["batch"]}
    (folder / RECIPE_FILE).write_text(yaml.safe_dump({**content, "training": training}, sort_keys=False))


def test_an_earlier_versions_run_resumes_and_is_recognised_when_finished(recipe, tmp_path, monkeypatch):
    folder, checkpoints = tmp_path / "run", tmp_path / "run" / "checkpoints"

    def stop(*args, **options):
        mark_complete(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer, "mark_complete", stop)
    with pytest.raises(KeyboardInterrupt):
        train_model(recipe(checkpoint_every=3))
    monkeypatch.undo()
    assert last_complete(checkpoints)
    with_all_keys(folder)
    train_model(recipe(checkpoint_every=3))
    written_at = (folder / "model.safetensors").stat().st_mtime_ns
    assert not checkpoints.exists()
    train_model(recipe(checkpoint_every=3))
    assert (folder / "model.safetensors").stat().st_mtime_ns == written_at


def test_a_recipe_from_before_a_setting_was_added_is_the_same_run(finished):
    content = copy.deepcopy(saved_recipe(TRANSFORMER))
    del content["training"]["patience"]
    folder = finished(content)
    with claimed(folder, own_recipe(TRANSFORMER, folder)):
        pass


def test_two_runs_do_not_train_in_one_folder_at_once(recipe, tmp_path):
    with claimed(tmp_path / "run", recipe()), pytest.raises(CascadaError, match="Another process is training in"):
        train_model(recipe())
    assert train_model(recipe())


def test_the_newest_complete_checkpoint_counts_and_the_best_is_kept(tmp_path):
    assert last_complete(tmp_path) is None
    for update in (5, 20, 100):
        (tmp_path / f"checkpoint-{update}").mkdir()
        mark_complete(tmp_path / f"checkpoint-{update}", processes=1, best=str(tmp_path / "checkpoint-5"))
    (tmp_path / "checkpoint-200").mkdir()
    assert last_complete(tmp_path) == tmp_path / "checkpoint-100"
    assert {path.name for path in tmp_path.iterdir()} == {"checkpoint-5", "checkpoint-100"}
