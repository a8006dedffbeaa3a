"""Training starts from an int8 export, such as the bundled model: its weights, dequantised."""

import pytest
import training_data

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.systems.cut import cut
from cascada.systems.decoupled.folder import begin, load, save
from cascada.systems.decoupled.learner import shape_of
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.settings import DecoupledModel
from cascada.systems.decoupled.shape import DecoupledShape
from cascada.systems.decoupled.unpack import unpacked
from cascada.systems.export import export
from cascada.training.recipes import parse_recipe
from cascada.training.single_run import train_model

data, content_in = training_data.data, training_data.content_in  # fixtures

TEXTS = ["one two three", "two", "four five six seven"]


@pytest.fixture(scope="module")
def late_folder(encoder_folder, words, tmp_path_factory):
    """A late-interaction ranker with exit 0 and one below the join."""
    folder = tmp_path_factory.mktemp("late")
    shape = DecoupledShape(join=4, exits=(2, 4), towers="shared", match="both", question_length=16, max_length=64)
    model = DecoupledRanker(load_encoder(encoder_folder), shape)
    model.cosine.weights.data[1] = 0.2
    save(model.eval(), folder / "late", tokenizer=encoder_folder, card="")
    cut(folder / "late", (0, 2, 4), folder / "late-0", texts=words)
    return folder / "late-0"


@pytest.fixture(scope="module")
def exported(late_folder):
    export(late_folder, late_folder.parent / "int8", "int8")
    return late_folder.parent / "int8"


def scores_of(folder):
    return {item.index: item.scores for item in Ranker.load(folder).rank("two three?", TEXTS, drop=0)}


def test_what_was_unpacked_ranks_as_the_export_and_packs_again(exported, encoder_folder, tmp_path):
    save(unpacked(exported), tmp_path / "float", tokenizer=encoder_folder, card="")
    export(tmp_path / "float", tmp_path / "again", "int8")
    floats, again = scores_of(tmp_path / "float"), scores_of(tmp_path / "again")
    for index, scores in scores_of(exported).items():
        assert again[index] == pytest.approx(scores, abs=0.01)
        assert floats[index] == pytest.approx(scores, abs=0.05)


def test_a_recipe_that_names_the_bundled_model_has_its_shape_and_its_idf():
    shape = shape_of(DecoupledModel(kind="decoupled", encoder="cascada-mini"))
    assert (shape.join, shape.exits, shape.towers, shape.match) == (12, (0, 12), "shared", "both")
    assert (shape.question_length, shape.max_length) == (64, 256)
    assert (shape.question_prompt, shape.document_prompt) == ("query: ", "passage: ")
    no_exit_zero = shape_of(DecoupledModel(kind="decoupled", encoder="cascada-mini", exits=(12,), dropout=0.2))
    assert (no_exit_zero.exits, no_exit_zero.dropout) == ((12,), 0.2)
    model = begin("cascada-mini", shape)
    assert model.exit_zero.weights.unique().numel() > 500


def test_training_continues_from_an_export(exported, content_in, tmp_path):
    content = content_in(tmp_path, epochs=1, learning_rate=1e-4)
    content["model"] = {"kind": "decoupled", "encoder": str(exported)}
    trained = load(train_model(parse_recipe(content, "recipe")))
    begun = unpacked(exported)
    assert trained.shape == begun.shape
    assert trained.exit_zero.weights.equal(begun.exit_zero.weights)
    name = "document.encoder.encoder.layer.0.output.dense.weight"
    change = (trained.state_dict()[name] - begun.state_dict()[name]).abs().max()
    assert 0 < change < 0.01


def test_an_export_that_holds_no_int8_weights_is_refused(late_folder, tmp_path):
    export(late_folder, tmp_path / "fp32", "fp32")
    with pytest.raises(CascadaError, match="is an exported ranker that cannot be trained on: only int8 exports"):
        unpacked(tmp_path / "fp32")
