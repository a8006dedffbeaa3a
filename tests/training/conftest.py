"""Small data that can be learned: a word gives the correct sentence away."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cascada.training.run import train
from cascada.training.settings import Recipe

HANGS = """
import sys, time
from cascada.cli.main import main
from cascada.training.trainer import LearnerTrainer

goes_on = LearnerTrainer.compute_loss

def compute_loss(self, *args, **options):
    if self.state.global_step == {update} and self.args.output_dir.endswith("/{folder}/checkpoints"):
        print("hangs", flush=True)
        time.sleep(3600)
    return goes_on(self, *args, **options)

LearnerTrainer.compute_loss = compute_loss
main()
"""


def groups(words, questions, seed, candidates=5):
    """Questions and sentences of random words; the correct sentence alone holds the first word of the vocabulary."""
    mark, *others = words
    rng = random.Random(seed)
    for _ in range(questions):
        texts = [rng.choices(others, k=rng.randint(2, 6)) for _ in range(candidates)]
        right = rng.randrange(candidates)
        texts[right].insert(rng.randint(0, 2), mark)
        yield {
            "question": " ".join(rng.sample(others, 2)),
            "candidates": [{"text": " ".join(text), "label": int(i == right)} for i, text in enumerate(texts)],
        }


def write_groups(path: Path, records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory, words):
    """train.jsonl and dev.jsonl."""
    folder = tmp_path_factory.mktemp("data")
    for name, questions, seed in (("train", 40, 1), ("dev", 20, 2)):
        write_groups(folder / f"{name}.jsonl", groups(words[:20], questions, seed))
    return folder


@pytest.fixture(scope="session")
def content_in(data, encoder_folder):
    """A recipe as a mapping: one that finishes in a second or two."""

    def content(folder, output="run", model=None, **training):
        return {
            "output": str(folder / output),
            "model": {"encoder": str(encoder_folder), "layers": 2, "head": "first", "max_length": 32, **(model or {})},
            "train": {"source": str(data / "train.jsonl")},
            "dev": {"source": str(data / "dev.jsonl")},
            "training": {"epochs": 2, "learning_rate": 2e-3, "batch": {"by": "tokens", "size": 300}, **training},
        }

    return content


@pytest.fixture
def recipe(content_in, tmp_path):
    """`recipe("output", key=value)`: the recipe with other training settings."""
    return lambda *args, **options: Recipe.model_validate(content_in(tmp_path, *args, **options))


@pytest.fixture
def recipe_file(recipe, tmp_path):
    """The same in a file, for the command line."""

    def write(*args, **options):
        path = tmp_path / "a-recipe.yaml"
        path.write_text(yaml.safe_dump(recipe(*args, **options).model_dump()))
        return path

    return write


@pytest.fixture(scope="session")
def learned(tmp_path_factory, content_in):
    """The folder of a run that learns, and its recipe."""
    folder = tmp_path_factory.mktemp("learned")
    recipe = Recipe.model_validate(content_in(folder, epochs=3, learning_rate=5e-3, evaluations_per_epoch=2))
    return train(recipe), recipe


@pytest.fixture
def worsening(content_in, learned, tmp_path):
    """`worsening("output")`: a good ranker is given labels turned round, so that the first of its measurements is
    the best and the last is not.
    """

    def of(output="run"):
        how = {"epochs": 3, "learning_rate": 5e-3, "warmup": 0.9, "evaluations_per_epoch": 2}
        content = content_in(tmp_path, output, model={"encoder": str(learned[0])}, **how)
        content["train"]["noise"] = 0.99  # a recipe takes less than 1
        return Recipe.model_validate(content)

    return of


@pytest.fixture
def start(tmp_path):
    """`start("train", …)`: the command as a process of its own, on one thread; it is stopped when the test ends."""
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
    """`kill_at(5, "run", "train", …)`: the command, ended by SIGKILL five updates into the run of that folder."""

    def run(update, folder, *arguments):
        process = start(*arguments, main=("-c", HANGS.format(update=update, folder=folder)))
        assert process.stdout.readline() == "hangs\n", process.communicate()[1]
        process.kill()
        process.wait()

    return run
