"""A new system is a room and one line in the registry: nothing else has to know it."""

import ast
import json
import sys
from pathlib import Path

import pytest

import cascada
from cascada import Ranker
from cascada.core.errors import CascadaError
from cascada.systems import registry
from cascada.systems.export import export
from cascada.systems.registry import ROOMS, UNTRAINED, part

SOURCE = Path(cascada.__file__).parent

ENGINE = '''
"""Ranks by the number of words that question and candidate share."""
import numpy as np

from cascada.core.folder import read_shape
from cascada.ranking.arrays import sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Scored
from cascada.text.words import words

READS_STORE = False


def shared_words(question, text):
    return len(set(words(question)) & set(words(text)))


class OverlapStage:
    exit = 0
    layers = 0

    def __init__(self, threshold):
        self.threshold = threshold

    def score(self, pairs, state, deadline):
        counts = [shared_words(pairs.questions[owner], text) for owner, text in zip(pairs.owner, pairs.texts)]
        return Scored((4 * (np.array(counts, np.float32) - self.threshold)).astype(np.float32))

    def flops(self, tokens):
        return np.zeros_like(tokens)

    def probability(self, scores):
        return sigmoid(scores)


def load(folder, store=None, *, add=False):
    return Ranker([OverlapStage(read_shape(folder)["threshold"])])
'''

SETTINGS = """
from typing import Literal

from cascada.training.settings import Positive, RankerTraining, Settings


class Model(Settings):
    kind: Literal["overlap"]
    threshold: Positive = 5.0


Training = RankerTraining


def origin(model):
    return f"a threshold of {model.threshold}"
"""

LEARNER = """
from dataclasses import dataclass, replace

import numpy as np
import torch
from overlap_system.engine import OverlapStage, shared_words
from torch import nn

from cascada.core.folder import saving
from cascada.objectives.losses import point
from cascada.ranking.ranker import Ranker
from cascada.text.vocabulary import Vocabulary, WordPairTokenizer
from cascada.training.examples import Examples
from cascada.training.ranker_trainer import build_ranker_trainer, ranker_card

card = ranker_card


@dataclass(frozen=True, kw_only=True)
class OverlapExamples(Examples):
    counts: np.ndarray | None = None

    def inputs(self, rows):
        return {"counts": self.counts[rows]}


class Threshold(nn.Module):
    def __init__(self, threshold):
        super().__init__()

        self.threshold = nn.Parameter(torch.tensor(threshold))

    def forward(self, counts):
        score = 4 * (counts - self.threshold)
        return torch.stack((torch.zeros_like(score), score), -1)


class OverlapLearner:
    has_unused_weights = False
    learning_rates = {}

    def __init__(self, recipe, groups, measured):
        tokenizer = WordPairTokenizer(Vocabulary.of(text for group in groups for text in group.texts), max_words=20)
        counts = [shared_words(group.question, text) for group in groups for text in group.texts]
        self.examples = replace(OverlapExamples.of(groups, tokenizer), counts=np.array(counts, np.float32))
        self.model = Threshold(recipe.model.threshold)

    def begin(self, updates):
        pass

    def loss(self, model, inputs, update):
        return point(model(inputs["counts"]), inputs["labels"]), {}

    def ranker(self):
        return Ranker([OverlapStage(self.model.threshold.item())])

    def save(self, folder, card):
        with saving(folder, {"kind": "overlap", "exits": [0], "threshold": self.model.threshold.item()}, card=card):
            pass


def trainer(recipe, folder):
    return build_ranker_trainer(recipe, folder, OverlapLearner)
"""

EXPORT = """
from cascada.core.errors import CascadaError


def exporter(folder, precision):
    raise CascadaError(f"{folder} counts words: it has no graphs to export.")
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A system that the package does not know: its room, and one line in the registry."""
    room = tmp_path / "overlap_system"
    room.mkdir()
    files = {"__init__": "", "engine": ENGINE, "settings": SETTINGS, "learner": LEARNER, "export": EXPORT}
    for name, code in files.items():
        (room / f"{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.ROOMS, "overlap", "overlap_system")
    yield "overlap"
    for name in [name for name in sys.modules if name.partition(".")[0] == "overlap_system"]:
        del sys.modules[name]


@pytest.fixture
def content(tmp_path, words):
    """A recipe of the toy system; correct candidates share two words with their question, others share one."""

    def group(number):
        first, second, *others = (words[(number * 7 + place) % 100] for place in range(6))
        texts = [f"{second} {others[0]}", f"{others[1]} {second} {first}", f"{first} {others[2]}"]
        candidates = [{"text": text, "label": int(place == 1)} for place, text in enumerate(texts)]
        return {"question": f"{first} {second}?", "candidates": candidates}

    for name, numbers in (("train", range(30)), ("dev", range(30, 40))):
        lines = (json.dumps(group(number)) + "\n" for number in numbers)
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    return {
        "output": str(tmp_path / "run"),
        "model": {"kind": "overlap", "threshold": 5.0},
        "train": {"source": str(tmp_path / "train.jsonl")},
        "dev": {"source": str(tmp_path / "dev.jsonl")},
        "training": {"epochs": 1, "learning_rate": 0.3, "batch": {"by": "pairs", "size": 2}},
    }


def test_a_new_system_trains_from_a_recipe_loads_and_is_evaluated(toy, content, tmp_path):
    (trained,) = cascada.train(content)
    shape = json.loads((tmp_path / "run" / "cascada.json").read_text(encoding="utf-8"))
    assert 1 < shape["threshold"] < 2, "learned: between one shared word and two"
    assert "a threshold of 5.0" in (tmp_path / "run" / "README.md").read_text(encoding="utf-8")
    ranker = Ranker.load(trained.model)
    assert [item.index for item in ranker.rank("red fox?", ["a red hen", "the fox is red"])] == [1, 0]
    low, high = ranker.score("red fox?", ["a red hen", "the fox is red"])
    assert low < 0.5 < high
    assert cascada.evaluate(trained.model, content["dev"]["source"]).to_dict()["MAP"] == 1.0


def test_a_new_system_runs_in_sequence_with_others(toy, content):
    (trained,) = cascada.train(content)
    ranking = Ranker.load(f"bm25+{trained.model}").rank("red fox?", ["hen", "red fox", "red hen"], keep=[2])
    assert [stage.candidates for stage in ranking.stages] == [3, 2]
    assert ranking[0].text == "red fox"


@pytest.mark.parametrize(
    ("group", "key", "said"),
    [
        ("model", "encoder", "unknown key model.encoder; it is for rankers of kind transformer or decoupled"),
        ("model", "treshold", "unknown key model.treshold; did you mean threshold?"),
        ("training", "joint_rate", "unknown key training.joint_rate; it is for rankers of kind decoupled"),
    ],
)
def test_a_key_that_a_new_system_does_not_have_is_rejected(toy, content, group, key, said):
    content[group][key] = 1
    with pytest.raises(CascadaError) as caught:
        cascada.train(content)
    assert said in str(caught.value)


def test_a_setting_of_a_new_system_is_rejected_for_others(toy, content):
    content["model"] = {"kind": "transformer", "encoder": "x", "threshold": 1}
    with pytest.raises(CascadaError, match=r"unknown key model\.threshold; it is for rankers of kind overlap"):
        cascada.train(content)


def test_a_new_system_has_its_own_sentence_about_export_and_stores(toy, content, tmp_path):
    (trained,) = cascada.train(content)
    with pytest.raises(CascadaError, match="counts words: it has no graphs to export"):
        export(Path(trained.model), tmp_path / "out")
    with pytest.raises(CascadaError, match="has no use for stored encodings"):
        Ranker.load(trained.model, store=tmp_path / "store")


def test_a_kind_that_is_not_in_the_registry_is_a_sentence(content, tmp_path):
    with pytest.raises(CascadaError, match=r"model\.kind is 'overlap'; there are transformer"):
        cascada.train(content)
    (tmp_path / "cascada.json").write_text('{"format": 1, "kind": "overlap", "exits": [0]}', encoding="utf-8")
    with pytest.raises(CascadaError, match="The kind of model is 'overlap'; there are transformer"):
        Ranker.load(tmp_path)


# The rooms in the package


@pytest.mark.parametrize("kind", ROOMS)
def test_a_room_has_the_files_that_the_registry_promises(kind):
    assert {"load", "READS_STORE"} <= set(vars(part(kind, "engine")))
    assert {"exporter"} <= set(vars(part(kind, "export")))
    assert {"Model", "Training", "origin"} <= set(vars(part(kind, "settings")))
    assert {"trainer", "card"} <= set(vars(part(kind, "learner")))


@pytest.mark.parametrize("kind", ROOMS)
def test_rooms_name_the_same_things_alike(kind):
    room = SOURCE.parent / ROOMS[kind].replace(".", "/")
    same = {"shape", "folder", "network", "engine", "engine_onnx", "engine_torch", "export", "settings", "learner"}
    assert same <= {path.stem for path in room.glob("*.py")}
    defined = {node.name for node in ast.parse((room / "folder.py").read_text()).body if hasattr(node, "name")}
    assert {"save", "load", "begin"} <= defined


@pytest.mark.parametrize("room", [*ROOMS.values(), *UNTRAINED.values()])
def test_a_room_imports_no_other_room(room):
    others = {*ROOMS.values(), *UNTRAINED.values()} - {room}
    for path in (SOURCE.parent / room.replace(".", "/")).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names for other in others if name.startswith(other)], path
