"""An exported decoupled ranker scores as the trained one does, and reads a store of its own."""

import json

import numpy as np
import pytest
import torch

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.ranking import Ranker
from cascada.systems.decoupled.engine import document_encoder
from cascada.systems.decoupled.folder import begin, save
from cascada.systems.decoupled.network import DecoupledRanker
from cascada.systems.decoupled.shape import DecoupledShape, read_exported
from cascada.systems.export import export

SHAPES = {
    "dc-bert": {"join": 4, "exits": (5,)},
    "linear": {"join": 4, "exits": (5,), "interaction": "linear"},
    "lstm": {"join": 3, "exits": (3, 5), "interaction": "lstm"},
    "cascade": {"join": 2, "exits": (2, 3, 4), "keep": 8, "towers": "shared"},
    "added to the cosine": {"join": 2, "exits": (2, 3, 4), "scores": "added"},
    "late interaction": {"join": 2, "exits": (2, 3, 4), "scores": "added", "match": "late"},
    "late interaction and cosine": {"join": 3, "exits": (2, 3), "towers": "shared", "match": "both"},
    "both in fewer dimensions": {"join": 2, "exits": (2, 3), "keep": 8, "match": "both", "scores": "added"},
    "late interaction in fewer dimensions": {"join": 2, "exits": (2, 3), "keep": 8, "match": "late"},
    "exits below the join": {"join": 3, "exits": (1, 2, 3), "towers": "shared", "match": "late"},
    "exits below and above the join": {"join": 3, "exits": (1, 4), "keep": 8, "match": "late"},
}


def save_model(folder, encoder_folder, **shape):
    torch.manual_seed(5)
    model = DecoupledRanker(load_encoder(encoder_folder), DecoupledShape(**shape, max_length=32, question_length=12))
    for classifier in model.classifiers.values():  # those that add to the cosine start at zero
        torch.nn.init.normal_(classifier[-1].weight, std=0.05)
    if model.shape.match == "both":
        model.cosine.weights.data.copy_(torch.tensor([1.5, 0.6]))
    save(model, folder, tokenizer=encoder_folder, card="# Card\n")
    return folder


@pytest.fixture(scope="module")
def texts(words):
    return [" ".join(words[start : start + 1 + start * 7 % 30]) for start in range(40)]


def scores(ranker, texts, **options):
    ranking = ranker.rank("bada bade?", texts, drop=0, **options)
    return np.array([item.scores for item in sorted(ranking, key=lambda item: item.index)])


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_in_full_precision_every_exit_scores_as_in_torch(encoder_folder, tmp_path, texts, shape):
    folder = save_model(tmp_path / "trained", encoder_folder, **shape)
    export(folder, tmp_path / "out", "fp32")
    exported = Ranker.load(tmp_path / "out")
    np.testing.assert_allclose(scores(exported, texts), scores(Ranker.load(folder), texts), atol=1e-4, rtol=1e-4)
    assert exported.exits == shape["exits"]
    assert document_encoder(tmp_path / "out").fingerprint == document_encoder(folder).fingerprint


@pytest.mark.parametrize("kind", ["roberta", "distilbert", "electra", "albert"])
def test_whatever_encoder_it_has(encoder_folders, tmp_path, texts, kind):
    folder = save_model(tmp_path / "trained", encoder_folders[kind], join=2, exits=(2, 4))
    export(folder, tmp_path / "out", "fp32")
    np.testing.assert_allclose(
        scores(Ranker.load(tmp_path / "out"), texts), scores(Ranker.load(folder), texts), atol=1e-4, rtol=1e-4
    )


@pytest.mark.parametrize("kind", ["mpnet", "modernbert", "deberta-v2", "deberta-v2-types"])
@pytest.mark.parametrize("shape", [{"exits": (0, 3), "match": "late"}, {"exits": (3, 4), "interaction": "lstm"}])
def test_towers_with_relative_positions_are_compared_or_read_by_another_interaction(
    encoder_folders, tmp_path, texts, kind, shape
):
    folder = save_model(tmp_path / "trained", encoder_folders[kind], join=3, **shape)
    export(folder, tmp_path / "out", "fp32")
    ours, theirs = (scores(Ranker.load(place), texts) for place in (tmp_path / "out", folder))
    np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=1e-4)


def test_in_int8_every_exit_ranks_nearly_as_in_torch(encoder_folder, tmp_path, texts):
    folder = save_model(tmp_path / "trained", encoder_folder, **SHAPES["cascade"])
    export(folder, tmp_path / "out", "int8")
    ours, reference = scores(Ranker.load(tmp_path / "out"), texts), scores(Ranker.load(folder), texts)
    for exit in range(3):
        assert np.corrcoef(ours[:, exit], reference[:, exit])[0, 1] > 0.95
    assert document_encoder(tmp_path / "out").fingerprint != document_encoder(folder).fingerprint


def test_the_last_layer_costs_less_since_only_two_tokens_of_it_are_computed(encoder_folder, tmp_path):
    folders = [save_model(tmp_path / str(last), encoder_folder, join=4, exits=(last,)) for last in (5, 6)]
    export(folders[0], tmp_path / "out", "fp32")
    exported, one, two = (Ranker.load(it).stages[0].flops(np.array([100]))[0] for it in (tmp_path / "out", *folders))
    assert exported == one < 0.4 * (two - one), "what the second one adds is a whole layer"


def test_what_is_exported_is_not_exported_or_trained_again(encoder_folder, tmp_path):
    export(save_model(tmp_path / "trained", encoder_folder, **SHAPES["linear"]), tmp_path / "out", "fp32")
    with pytest.raises(CascadaError, match="for ranking only"):
        export(tmp_path / "out", tmp_path / "again")
    with pytest.raises(CascadaError, match="cannot be trained on"):
        begin(str(tmp_path / "out"), DecoupledShape(4, (5,)))


@pytest.mark.parametrize("scores", ["own", "added"])
def test_the_folder_keeps_its_keys(encoder_folder, tmp_path, scores):
    folder = save_model(tmp_path / "trained", encoder_folder, join=2, exits=(2, 3), scores=scores)
    export(folder, tmp_path / "out", "fp32")
    shape = json.loads((tmp_path / "out" / "cascada.json").read_text(encoding="utf-8"))
    sizes = {
        "hidden",
        "feed_forward",
        "attention_heads",
        "pad_id",
        "precision",
        "fingerprint",
        "question_length",
        "max_length",
        "question_prompt",
        "document_prompt",
    }
    assert (
        set(shape)
        == {"format", "engine", "kind", "exits", "join", "interaction", "keep", "onto_cosine", "match"} | sizes
    )
    assert shape["onto_cosine"] is (scores == "added")
    assert read_exported(tmp_path / "out").scores == scores
