"""Fixtures for all tests that train: small data that can be learned, because a word gives the correct sentence away."""

import json
import random
from pathlib import Path

import pytest

from cascada.training.recipes import parse_recipe


def groups(words, questions, seed, candidates=5):
    """Questions and sentences of random words; only the correct sentence contains the first word of the vocabulary."""
    giveaway, *others = words
    rng = random.Random(seed)
    for _ in range(questions):
        texts = [rng.choices(others, k=rng.randint(2, 6)) for _ in range(candidates)]
        correct = rng.randrange(candidates)
        texts[correct].insert(rng.randint(0, 2), giveaway)
        yield {
            "question": " ".join(rng.sample(others, 2)),
            "candidates": [{"text": " ".join(text), "label": int(i == correct)} for i, text in enumerate(texts)],
        }


def write_groups(path: Path, records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture(scope="session")
def data(tmp_path_factory, words):
    """A folder with train.jsonl and dev.jsonl."""
    folder = tmp_path_factory.mktemp("data")
    for name, questions, seed in (("train", 40, 1), ("dev", 20, 2)):
        write_groups(folder / f"{name}.jsonl", groups(words[:20], questions, seed))
    return folder


@pytest.fixture(scope="session")
def content_in(data, encoder_folder):
    """`content_in(folder, "output", key=value)`: a recipe as a mapping, one that trains in a second or two."""

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
    return lambda *args, **options: parse_recipe(content_in(tmp_path, *args, **options), "recipe")
