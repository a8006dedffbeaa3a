"""One run on several processes."""

import socket

import pytest
from safetensors.numpy import load_file
from trained import history

from cascada.training.run import train

SETTINGS = {"epochs": 4, "learning_rate": 5e-3, "batch": {"by": "tokens", "size": 150}}


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def test_two_processes_train_one_ranker(recipe, recipe_file, start, tmp_path):
    torchrun = ("-m", "torch.distributed.run", "--nproc_per_node=2", f"--master_port={free_port()}")
    process = start("train", recipe_file("two", **SETTINGS), launcher=torchrun)
    said, warned = process.communicate(timeout=300)
    assert process.returncode == 0, warned
    two, one = tmp_path / "two", train(recipe("one", **SETTINGS))

    assert said.count("dev MAP") == 1  # one process speaks
    assert warned.count("dev MAP") == 4
    assert {path.name for path in two.iterdir()} == {path.name for path in one.iterdir()}
    shapes = [{name: value.shape for name, value in load_file(at / "model.safetensors").items()} for at in (one, two)]
    assert shapes[0] == shapes[1]

    measured, alone = history(two), history(one)
    assert measured["train"][-1]["update"] == pytest.approx(alone["train"][-1]["update"] / 2, abs=4)
    assert max(row["MAP"] for row in measured["dev"]) > 0.9
    assert max(row["MAP"] for row in alone["dev"]) > 0.9


def test_two_processes_train_one_cascade(recipe_file, start, tmp_path):
    """Each update leaves out the layers above its exit: both processes have to leave out the same ones."""
    torchrun = ("-m", "torch.distributed.run", "--nproc_per_node=2", f"--master_port={free_port()}")
    model = {"layers": 4, "exits": [2, 4], "head": "mean"}
    process = start("train", recipe_file("two", model, **SETTINGS), launcher=torchrun)
    _, warned = process.communicate(timeout=300)
    assert process.returncode == 0, warned
    last = history(tmp_path / "two")["dev"][-1]
    assert last["MAP"] > 0.7
    assert last["MAP@2"] > 0.5
