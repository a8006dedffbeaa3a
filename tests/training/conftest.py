"""Runs that learn, runs that get worse, and training commands as processes that can be killed."""

import os
import subprocess
import sys

import pytest
import training_data
import yaml

from cascada.training.recipes import parse_recipe
from cascada.training.single_run import train_model

data, content_in, recipe = training_data.data, training_data.content_in, training_data.recipe  # fixtures

HANGS = """
import sys, time
from cascada.cli.main import main
from cascada.training.trainer import LearnerTrainer

continues = LearnerTrainer.compute_loss

def compute_loss(self, *args, **options):
    if self.state.global_step == {update} and self.args.output_dir.endswith("/{folder}/checkpoints"):
        print("hangs", flush=True)
        time.sleep(3600)
    return continues(self, *args, **options)

LearnerTrainer.compute_loss = compute_loss
main()
"""


@pytest.fixture
def recipe_file(recipe, tmp_path):
    """The same recipe in a file, for the command line."""

    def write(*args, **options):
        path = tmp_path / "a-recipe.yaml"
        path.write_text(yaml.safe_dump(recipe(*args, **options).model_dump()))
        return path

    return write


@pytest.fixture(scope="session")
def learned(tmp_path_factory, content_in):
    """The folder of a run that learned, and its recipe."""
    folder = tmp_path_factory.mktemp("learned")
    recipe = parse_recipe(content_in(folder, epochs=3, learning_rate=5e-3, evaluations_per_epoch=2), "recipe")
    return train_model(recipe), recipe


@pytest.fixture
def worsening(content_in, learned, tmp_path):
    """`worsening("output")`: a good ranker is trained on flipped labels, so that its first evaluation is the best."""

    def of(output="run"):
        settings = {"epochs": 3, "learning_rate": 5e-3, "warmup": 0.9, "evaluations_per_epoch": 2}
        content = content_in(tmp_path, output, model={"encoder": str(learned[0])}, **settings)
        content["train"]["noise"] = 0.99  # a recipe takes less than 1
        return parse_recipe(content, "recipe")

    return of


@pytest.fixture
def start(tmp_path):
    """`start("train", …)`: the command in its own process, on one thread; it is stopped when the test ends."""
    started = []

    def run(*arguments, launcher=(), main=("-m", "cascada.cli.main")):
        command = [sys.executable, *launcher, *main, *map(str, arguments)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        started.append(subprocess.Popen(command, env=environment, cwd=tmp_path, **streams))
        return started[-1]

    yield run
    for process in started:
        process.terminate()  # torchrun ends the processes it started, which are in sessions of their own
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.fixture
def kill_at(start):
    """`kill_at(5, "run", "train", …)`: run the command and kill it after five updates of the run in that folder."""

    def run(update, folder, *arguments):
        process = start(*arguments, main=("-c", HANGS.format(update=update, folder=folder)))
        assert process.stdout.readline() == "hangs\n", process.communicate()[1]
        process.kill()
        process.wait()

    return run
