"""From a cross-encoder and questions without labels to a cascade whose last exit is that cross-encoder."""

import json
import random

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from typer.testing import CliRunner

import cascada
from cascada import CascadaError, Ranker
from cascada.acceleration import accelerate as acceleration
from cascada.acceleration.accelerate import checked_exits, default_exits
from cascada.acceleration.heads import ranks_of_best
from cascada.acceleration.joint import JointTrainer, self_distillation
from cascada.acceleration.parts import Parts
from cascada.acceleration.pooled import PooledNetwork
from cascada.cli.main import app


@pytest.fixture(scope="module")
def texts(words):
    chance = random.Random(5)
    return [" ".join(chance.choices(words[:60], k=chance.randint(3, 8))) for _ in range(60)]


@pytest.fixture(scope="module")
def questions(tmp_path_factory, words, texts):
    """Forty questions with ten candidates each, and no label."""
    chance = random.Random(6)
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    rows = [
        {
            "question": " ".join(chance.choices(words[:60], k=4)),
            "candidates": [{"text": t} for t in chance.sample(texts, 10)],
        }
        for _ in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def accelerated(cross_encoder_folder, questions, tmp_path_factory):
    out = tmp_path_factory.mktemp("accelerated") / "out"
    return cascada.accelerate(cross_encoder_folder, questions, out, exits=[0, 2], keep_best=0.8, confidence=0.9)


def test_the_last_exit_is_the_model_bit_for_bit(cross_encoder_folder, accelerated, texts, words):
    original, cascade = Ranker.load(cross_encoder_folder), Ranker.load(accelerated.folder)
    assert cascade.exits == (0, 2, 4)
    question = " ".join(words[:3])
    assert np.array_equal(original.score(question, texts), cascade.score(question, texts, drop=0))
    before, after = (load_file(folder / "model.safetensors") for folder in (cross_encoder_folder, accelerated.folder))
    assert {name: weight.tobytes() for name, weight in before.items()} == {
        name: weight.tobytes() for name, weight in after.items()
    }


def test_the_certificate_is_of_questions_that_nothing_was_learned_on(accelerated):
    certificate = accelerated.tuning.chosen.certificate
    assert certificate.questions == accelerated.questions["test"] == 14
    assert accelerated.questions["heads"] + accelerated.questions["plan"] == 26
    assert accelerated.tuning.chosen.checked_on.questions == 14


def test_the_folder_ranks_by_the_certified_plan_and_explains_itself(accelerated, texts):
    assert Ranker.load(accelerated.folder).plan == accelerated.plan
    written = json.loads((accelerated.folder / "acceleration.json").read_text())
    assert written == json.loads(json.dumps(accelerated.to_dict()))
    assert written["certificate"]["survived"] <= 14
    assert "with 90 % confidence" in (accelerated.folder / "acceleration.md").read_text()
    assert (accelerated.folder / "acceleration.png").stat().st_size > 10_000
    assert not (accelerated.folder / "states").exists()


def test_the_scores_that_were_tuned_on_are_those_of_the_ranker(accelerated, questions):
    """The certificate would be worthless if the ranker scored candidates otherwise than they were scored for it."""
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    tested = [rows[number] for number in Parts.of(40, seed=0).test]
    groups = [(row["question"], [candidate["text"] for candidate in row["candidates"]]) for row in tested]
    for place, scores in enumerate(Ranker.load(accelerated.folder).exit_scores(groups)):
        ranks = [ranks_of_best(row, scores[-1], np.zeros(10, np.int64))[0] for row in scores[:-1]]
        # stored states are rounded to 16 bits, which may swap two neighbours
        assert np.abs(np.array(ranks) - [exit.ranks[place] for exit in accelerated.exits]).max() <= 1


def test_a_killed_run_continues_without_running_the_model_again(
    cross_encoder_folder, questions, accelerated, tmp_path, monkeypatch
):
    settings = {"exits": [0, 2], "keep_best": 0.8, "confidence": 0.9}
    with monkeypatch.context() as killed:
        killed.setattr(acceleration, "taught", lambda *args, **options: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            cascada.accelerate(cross_encoder_folder, questions, tmp_path / "out", **settings)
    monkeypatch.setattr(PooledNetwork, "pooled", lambda *args: 1 / 0)
    again = cascada.accelerate(cross_encoder_folder, questions, tmp_path / "out", **settings)
    assert again.plan == accelerated.plan
    assert again.agreement == accelerated.agreement


def test_questions_and_a_corpus_are_enough(cross_encoder_folder, questions, texts, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(texts))
    asked = [json.loads(line)["question"] for line in questions.read_text().splitlines()]
    (tmp_path / "questions.txt").write_text("\n".join(asked))
    command = ["accelerate", str(cross_encoder_folder), str(tmp_path / "questions.txt"), str(tmp_path / "out")]
    options = ["--corpus", str(tmp_path / "corpus.txt"), "--candidates", "8", "--exits", "0", "--loss", "0.5", "--json"]
    result = CliRunner().invoke(app, command + options, catch_exceptions=False)
    printed = json.loads(result.stdout)
    assert printed["certificate"] is None
    assert printed["pairs"] <= 8 * 40
    assert Ranker.load(tmp_path / "out").exits == (0, 4)


def test_too_few_questions_are_noticed_before_the_model_is_loaded(questions, tmp_path):
    with pytest.raises(CascadaError, match=r"40 usable questions, of which 14 .* takes 59, so 175 in all"):
        cascada.accelerate("no/such/model", questions, tmp_path / "out")


def test_a_folder_that_holds_a_ranker_is_not_overwritten(cross_encoder_folder, questions, accelerated):
    with pytest.raises(CascadaError, match="already holds a ranker"):
        cascada.accelerate(cross_encoder_folder, questions, accelerated.folder)


def test_exits_are_layers_of_the_model():
    assert default_exits(12) == (0, 2, 4, 6, 8, 12)
    assert default_exits(6) == (0, 1, 2, 3, 4, 6)
    assert default_exits(2)[-1] == 2
    assert checked_exits([2, 0], 4) == (0, 2, 4)
    with pytest.raises(CascadaError, match="no exit at layer 9: the model has 4 layers"):
        checked_exits([9], 4)
    with pytest.raises(CascadaError, match="name exits below it"):
        checked_exits([4], 4)


def test_layers_can_be_fine_tuned_too_and_a_killed_run_continues(
    cross_encoder_folder, questions, texts, tmp_path, monkeypatch
):
    settings = {"exits": [0, 2], "keep_best": 0.8, "confidence": 0.9, "joint": True, "epochs": 2}
    with monkeypatch.context() as killed:  # after the first of two epochs
        killed.setattr(JointTrainer, "_measure", dying_after(1, JointTrainer._measure))
        with pytest.raises(ZeroDivisionError):
            cascada.accelerate(cross_encoder_folder, questions, tmp_path / "out", **settings)
    assert (tmp_path / "out" / "joint" / "checkpoints").exists()
    with pytest.raises(CascadaError, match="holds the fine-tuning of another run"):
        cascada.accelerate(cross_encoder_folder, questions, tmp_path / "out", **{**settings, "epochs": 3})
    result = cascada.accelerate(cross_encoder_folder, questions, tmp_path / "out", **settings)
    history = json.loads((tmp_path / "out" / "joint" / "history.json").read_text())["dev"]
    assert [row["epoch"] for row in history] == [1, 2]
    assert history[-1].keys() >= {"agreement", "MRR@0", "MRR@2", "MRR@4"}
    written = json.loads((tmp_path / "out" / "acceleration.json").read_text())
    assert written["joint"]["epochs"] == 2
    assert 0.5 < written["joint"]["P@1"] <= 1, "the last exit is still much like the original"
    assert "no longer the original model bit for bit" in (tmp_path / "out" / "acceleration.md").read_text()
    changed, original = Ranker.load(tmp_path / "out"), Ranker.load(cross_encoder_folder)
    scores = [ranker.score(texts[0], texts, drop=0) for ranker in (changed, original)]
    assert not np.array_equal(*scores)
    assert np.abs(scores[0] - scores[1]).max() < 0.1
    assert {path.name for path in (tmp_path / "out" / "joint").iterdir()} == {"about.json", "history.json", "curve.png"}
    assert result.tuning.chosen.certificate.questions == 14


def dying_after(calls, function):
    done = []

    def called(*args):
        if len(done) == calls:
            raise ZeroDivisionError
        done.append(1)
        return function(*args)

    return called


def test_learning_ones_own_scores_has_nothing_to_learn_at_first():
    owner, wanted = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([3.0, -1.0, 0.0, 2.0, 9.0])
    assert self_distillation(wanted, wanted, owner) == pytest.approx(0, abs=1e-6)
    assert self_distillation(wanted + 1, wanted, owner) > 0, "another level of scores"
    assert self_distillation(-wanted, wanted, owner) > self_distillation(0.5 * wanted, wanted, owner)


@pytest.mark.parametrize("name", ["albert", "modernbert", "deberta-v2"])
def test_every_family_can_be_accelerated(cross_encoder_folders, questions, texts, tmp_path, name):
    folder = cross_encoder_folders[name]
    cascada.accelerate(folder, questions, tmp_path / "out", exits=[0, 2], loss=0.5)
    original, cascade = Ranker.load(folder), Ranker.load(tmp_path / "out")
    assert cascade.exits == (0, 2, 4)
    assert np.array_equal(original.score(texts[0], texts), cascade.score(texts[0], texts, drop=0))
