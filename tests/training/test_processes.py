"""One run on several processes."""

import json
from pathlib import Path

import pytest
from safetensors.numpy import load_file
from trained import history

from cascada.training.single_run import train_model

TORCHRUN = ("-m", "torch.distributed.run", "--nproc_per_node=2", "--standalone", "--local_addr=127.0.0.1")
PATIENCE = 600
"""Seconds, for a machine that is busy with something else."""
SETTINGS = {"epochs": 4, "learning_rate": 5e-3, "batch": {"by": "tokens", "size": 150}}


def test_two_processes_train_one_ranker(recipe, recipe_file, start, tmp_path):
    process = start("train", recipe_file("two", **SETTINGS), launcher=TORCHRUN)
    said, warned = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, warned
    two, one = tmp_path / "two", train_model(recipe("one", **SETTINGS))

    assert said.count("dev MAP") == 1  # one process speaks
    assert warned.count("dev MAP") == 4
    assert {path.name for path in two.iterdir()} == {path.name for path in one.iterdir()}
    shapes = [{name: value.shape for name, value in load_file(at / "model.safetensors").items()} for at in (one, two)]
    assert shapes[0] == shapes[1]

    measured, alone = history(two), history(one)
    assert measured["train"][-1]["update"] == pytest.approx(alone["train"][-1]["update"] / 2, abs=4)
    assert max(row["MAP"] for row in measured["dev"]) > 0.9
    assert max(row["MAP"] for row in alone["dev"]) > 0.9


def exits_of(folder, process):
    """Of each update, as `recorded_exits.py` wrote them down."""
    return [json.loads(line) for line in (folder / f"exits-{process}.jsonl").read_text().splitlines()]


def test_two_processes_train_one_cascade(recipe, recipe_file, start, tmp_path):
    """Each update leaves out the layers above its exit: both processes have to leave out the same ones."""
    model = {"layers": 4, "exits": [2, 4], "head": "mean"}
    settings = {**SETTINGS, "epochs": 8}
    recording = (Path(__file__).with_name("recorded_exits.py"), tmp_path)
    process = start("train", recipe_file("two", model, **settings), launcher=TORCHRUN, main=map(str, recording))
    _, warned = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, warned

    first, second = exits_of(tmp_path, 0), exits_of(tmp_path, 1)
    assert first == second
    assert [update for update, _ in first] == list(range(len(first)))
    assert {exit for _, (exit,) in first} == {2, 4}

    both = (tmp_path / "two", train_model(recipe("one", model, **settings)))
    two, one = (max(row["MAP"] for row in history(folder)["dev"]) for folder in both)
    assert two == pytest.approx(one, abs=0.1)
    assert min(one, two) > 0.85  # by chance it is 0.46
