"""One training run, from its recipe to its folder, on a tiny encoder."""

import io
import json
import re
import shutil
import struct

import pytest
import torch
from rich.console import Console
from safetensors.numpy import load_file
from trained import history, weights

from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.core.probe import can_run
from cascada.data import identified, qrels, read
from cascada.encoders.torch_stages import TorchStage
from cascada.metrics import evaluate
from cascada.ranking.runs import run_of
from cascada.training import progress
from cascada.training.recipes import read_recipe
from cascada.training.single_run import train_model


def dev_measures(folder, data):
    groups = list(identified(read(data / "dev.jsonl")))
    return evaluate(run_of(Ranker.load(str(folder)), groups), qrels(groups)).mean


@pytest.fixture(scope="session")
def chance(data):
    """The MAP of a shuffled order of five candidates, one of which is correct."""
    return sum(1 / place for place in range(1, 6)) / 5


def test_a_run_learns(learned, chance):
    measured = history(learned[0])["dev"]
    assert measured[-1]["MAP"] > 0.9 > 0.5 > chance


@pytest.mark.skipif(not can_run("torch bfloat16"), reason="torch does not run in bfloat16 on this processor")
def test_products_in_bfloat16_give_close_weights_in_float32(recipe, tmp_path):
    def trained(precision):
        train_model(recipe(precision, epochs=1, precision=precision))
        return load_file(tmp_path / precision / "model.safetensors")

    exact, rounded = trained("float32"), trained("bfloat16")
    assert all(rounded[name].dtype == "float32" for name in rounded)
    assert all(abs(exact[name] - rounded[name]).max() < 0.05 for name in exact)
    assert any((exact[name] != rounded[name]).any() for name in exact)


@pytest.mark.skipif(not can_run("torch bfloat16"), reason="torch does not run in bfloat16 on this processor")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_dev_set_and_teachers_are_scored_in_the_recipes_precision(recipe, cascade_folder, monkeypatch, precision):
    scored_in = {}
    score = TorchStage.score

    def recorded(stage, *given):
        name = "teacher" if len(stage.model.shape.exits) == 2 else "dev"
        scored_in.setdefault(name, set()).add("bfloat16" if torch.is_autocast_enabled("cpu") else "float32")
        return score(stage, *given)

    monkeypatch.setattr(TorchStage, "score", recorded)
    train_model(recipe(precision, epochs=1, precision=precision, teacher={"model": str(cascade_folder)}))
    assert scored_in == {"teacher": {precision}, "dev": {precision}}


def test_a_processor_without_bfloat16_is_named_before_training(recipe, monkeypatch):
    monkeypatch.setattr("cascada.training.precision.can_run", lambda name: False)
    with pytest.raises(CascadaError, match="cannot compute in bfloat16"):
        train_model(recipe(precision="bfloat16"))


def test_what_lands_in_the_folder(learned):
    folder, recipe = learned
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        "cascada.json",
        "config.json",
        "curve.png",
        "history.json",
        "model.safetensors",
        "recipe.yaml",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert read_recipe(folder / "recipe.yaml") == recipe


def test_the_card_names_training_data_and_quality(learned):
    folder, recipe = learned
    card = (folder / "README.md").read_text()
    best = max(row["MAP"] for row in history(folder)["dev"])
    for part in (f"| MAP | {best:.4f} |", recipe.train.source, recipe.model.encoder, "(200 pairs, 40 correct)"):
        assert part in card


def test_the_history_has_loss_learning_rate_and_measures_by_update(learned):
    rows = history(learned[0])
    assert [row["epoch"] for row in rows["dev"]] == pytest.approx([0.5, 1, 1.5, 2, 2.5, 3], abs=0.1)
    assert set(rows["dev"][0]) == {"update", "epoch", "MAP", "MRR", "P@1", "nDCG@10", "seconds"}
    assert set(rows["train"][0]) == {"update", "epoch", "loss", "learning_rate"}
    updates = [row["update"] for row in rows["train"]]
    assert updates == sorted(set(updates))
    assert {row["update"] for row in rows["dev"]} <= set(updates)
    assert rows["train"][-1]["loss"] < rows["train"][0]["loss"]


def test_the_curve_is_a_picture(learned):
    start = (learned[0] / "curve.png").read_bytes()[:24]
    assert start[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", start[16:24]) == (840, 480)


def test_the_best_checkpoint_is_kept_not_the_last(worsening, data):
    folder = train_model(worsening())
    values = [row["MAP"] for row in history(folder)["dev"]]
    assert values[-1] < max(values)
    assert dev_measures(folder, data)["MAP"] == max(values)


def test_a_run_stops_when_it_is_out_of_patience(recipe):
    folder = train_model(recipe(epochs=30, learning_rate=1e-2, patience=2))
    values = [row["MAP"] for row in history(folder)["dev"]]
    assert len(values) < 30
    assert values.index(max(values)) == len(values) - 3


def test_the_same_seed_gives_the_same_weights_to_the_bit(recipe):
    first, again, other = (train_model(recipe(name, seed=seed)) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert weights(first) == weights(again)
    assert weights(first) != weights(other)


def first_weights(recipe, name, **settings):
    return weights(train_model(recipe(name, epochs=1, **settings)))


def test_class_weights_and_negatives_change_what_is_learned(recipe):
    plain = first_weights(recipe, "plain")
    assert first_weights(recipe, "weighted", positive_weight=4) == first_weights(
        recipe, "balanced", positive_weight="balanced"
    )  # four incorrect candidates per correct one
    assert first_weights(recipe, "heavier", positive_weight=8) != plain
    assert first_weights(recipe, "fewer", negatives=1) != plain


def test_fewer_negatives_make_fewer_updates(recipe):
    all_of_them, one = (history(train_model(recipe(f"n{n}", epochs=1, negatives=n)))["train"][-1] for n in (None, 1))
    assert one["update"] < all_of_them["update"]


@pytest.fixture
def steady(encoder_folder, tmp_path):
    """The encoder without dropout."""
    folder = shutil.copytree(encoder_folder, tmp_path / "steady")
    config = json.loads((folder / "config.json").read_text())
    config.update(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    (folder / "config.json").write_text(json.dumps(config))
    return {"encoder": str(folder), "dropout": 0}


def test_accumulated_batches_make_the_update_one_large_batch_makes(recipe, steady):
    settings = {"epochs": 1, "warmup": 0, "model": steady}
    large = train_model(recipe("large", batch={"by": "pairs", "size": 200}, **settings))
    small = train_model(recipe("small", batch={"by": "pairs", "size": 50, "accumulate": 4}, **settings))
    assert history(large)["train"][-1]["update"] == history(small)["train"][-1]["update"] == 1
    assert history(large)["train"][0]["loss"] == pytest.approx(history(small)["train"][0]["loss"], rel=1e-5)
    one, two = (load_file(folder / "model.safetensors") for folder in (large, small))
    # Adam's first step divides a gradient by its own size, so that noise decides where the gradient is almost 0.
    far = sum((abs(one[name] - two[name]) > 1e-4).sum() for name in one)
    assert far / sum(value.size for value in one.values()) < 0.01


def test_the_heads_dropout_is_used(recipe):
    assert first_weights(recipe, "some") != first_weights(recipe, "none", model={"dropout": 0})


def output_of(recipe):
    console = Console(file=io.StringIO())
    folder = train_model(recipe, console)
    return folder, console.file.getvalue()


def test_a_finished_run_is_not_trained_again(recipe):
    folder, said = output_of(recipe())
    assert said.count("dev MAP") == 2
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "checkpoints" / "checkpoint-4").mkdir(parents=True)  # killed just before it removed them
    _, said = output_of(recipe())
    assert said.split() == f"{folder} is already trained.".split()
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_without_a_terminal_there_is_no_progress_bar(recipe):
    _, said = output_of(recipe())
    assert "\x1b" not in said
    assert "\r" not in said
    assert all(line.startswith(("training: ", "update ", "epoch ")) for line in said.splitlines())


def test_a_terminal_shows_loss_dev_map_and_time_left(recipe):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    train_model(recipe(epochs=3), console)
    said = console.file.getvalue()
    for part in ("loss 0.", "best dev MAP 0.", "left \x1b[36m00:0"):
        assert part in said
    assert said.rstrip().endswith("\x1b[?25h")  # the cursor is back


def test_another_recipe_is_rejected_where_there_is_a_run(recipe):
    folder = train_model(recipe())
    with pytest.raises(CascadaError, match=r"holds a run with other settings \(see its recipe.yaml\)"):
        train_model(recipe(seed=9))
    assert read_recipe(folder / "recipe.yaml").training.seed == 1


def test_a_recipe_may_be_changed_until_the_first_checkpoint(recipe, tmp_path):
    with pytest.raises(CascadaError, match="training diverged"):
        train_model(recipe(learning_rate=1e30, warmup=0))
    assert train_model(recipe()) == tmp_path / "run"


def test_a_run_can_be_moved(recipe, tmp_path):
    folder = train_model(recipe())
    folder.rename(tmp_path / "moved")
    _, said = output_of(recipe("moved"))
    assert "is already trained" in said


def test_a_folder_with_something_else_in_it_is_left_alone(recipe, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").touch()
    with pytest.raises(CascadaError, match="is not empty and is not a run"):
        train_model(recipe())
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.tex"]


def test_a_log_that_is_written_to_a_file_can_be_followed(recipe, monkeypatch, tmp_path):
    """Not only the evaluations are in it, and no line waits for another."""
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with open(tmp_path / "log", "w") as file:
        train_model(recipe(epochs=1), Console(file=file, width=200))
        lines = (tmp_path / "log").read_text().splitlines()  # before the file is closed
    assert re.fullmatch(r"training: (\d+) updates to go", lines[0])
    updates = [line for line in lines if re.match(r"update \d+ of \d+   epoch \d\.\d\d .* 0:00:\d\d left", line)]
    assert len(updates) == int(lines[0].split()[1])
    assert any(line.startswith("epoch  1.00   loss") for line in lines)
