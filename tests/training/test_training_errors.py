"""A user's mistake ends in one sentence."""

import json

import pytest

from cascada.core.errors import CascadaError
from cascada.training.single_run import train_model


@pytest.fixture
def mistake(recipe):
    """The sentence said for a recipe with one part changed."""

    def sentence(settings=None, **parts):
        base = recipe(**(settings or {}))
        changed = {name: getattr(base, name).model_copy(update=change) for name, change in parts.items()}
        with pytest.raises(CascadaError) as caught:
            train_model(base.model_copy(update=changed))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return sentence


@pytest.fixture
def source(tmp_path):
    """A file with one question and two candidates, labelled as asked."""

    def write(*labels):
        candidates = [{"text": f"word {number}", "label": label} for number, label in enumerate(labels)]
        (tmp_path / "some.jsonl").write_text(json.dumps({"question": "what?", "candidates": candidates}) + "\n")
        return {"source": str(tmp_path / "some.jsonl")}

    return write


def test_training_data_without_a_correct_candidate(mistake, source):
    assert "The training data has no correct candidate" in mistake(train=source(0, 0))


def test_training_data_without_an_incorrect_candidate(mistake, source):
    assert "The training data has no incorrect candidate" in mistake(train=source(1, 1))


def test_dev_data_without_a_correct_candidate_is_reported_before_training(mistake, source, tmp_path):
    assert "has no correct candidate, so MAP cannot be measured." in mistake(dev=source(0, 0))
    assert not (tmp_path / "run" / "checkpoints").exists()


@pytest.mark.parametrize("part", ["train", "dev"])
def test_data_without_questions(mistake, source, part):
    assert "some.jsonl has no questions in mode clean." in mistake(**{part: {**source(0, 0), "mode": "clean"}})


def test_an_empty_file(mistake, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    assert "empty.jsonl" in mistake(dev={"source": str(tmp_path / "empty.jsonl")})


def test_a_file_that_is_not_there(mistake, tmp_path):
    assert "There is no file" in mistake(train={"source": str(tmp_path / "none.jsonl")})


def test_an_encoder_that_is_not_there(mistake, tmp_path):
    assert f"{tmp_path}/none is neither a folder with an encoder" in mistake(model={"encoder": f"{tmp_path}/none"})


def test_more_layers_than_the_encoder_has(mistake):
    assert "layers is 5, but the encoder has 4." in mistake(model={"layers": 5})


def test_more_tokens_than_the_encoder_has_positions_for(mistake):
    assert "max_length is 513" in mistake(model={"max_length": 513})


def test_an_output_that_cannot_be_a_folder(mistake, recipe, tmp_path):
    (tmp_path / "run").write_text("a file")
    assert mistake() == f"The output {tmp_path}/run cannot be created: File exists."


def test_a_learning_rate_that_makes_the_loss_nan(mistake):
    said = mistake({"learning_rate": 1e30, "warmup": 0})
    assert said.startswith("The loss is nan at update 2: training diverged; a lower training.learning_rate")


def test_a_last_update_that_makes_the_scores_nan(mistake):
    said = mistake({"learning_rate": 1e40, "warmup": 0, "batch": {"by": "pairs", "size": 200}})
    assert said == "The ranker's scores are not numbers: its weights are damaged, or its training diverged."


def test_questions_without_candidates_are_left_out(recipe, data, tmp_path):
    with_nothing = tmp_path / "with-nothing.jsonl"
    with_nothing.write_text('{"question": "what?", "candidates": []}\n' + (data / "dev.jsonl").read_text())
    base = recipe(epochs=1)
    assert train_model(base.model_copy(update={"dev": base.dev.model_copy(update={"source": str(with_nothing)})}))
