"""A ranker's folder: what is saved comes back to the bit, and half a folder is no ranker."""

import json
import os
import shutil
import stat

import pytest
import torch
from safetensors.torch import load_file, save_file

from cascada.core.errors import CascadaError
from cascada.encoders.encoder import load_encoder
from cascada.encoders.files import tokenizer_folder
from cascada.ranking import Ranker
from cascada.systems.cascade import folder as checkpoint
from cascada.systems.cascade.network import CascadeRanker
from cascada.systems.cascade.shape import CascadeShape
from cascada.systems.export import export


@pytest.fixture(scope="module")
def model(encoder_folder):
    torch.manual_seed(1)
    return CascadeRanker(load_encoder(encoder_folder, layers=3), CascadeShape((1, 3), "mean", 0.2, 48)).eval()


@pytest.fixture
def folder(tmp_path, cascade_folder):
    """A copy of the tiny cascade, to be spoilt."""
    return shutil.copytree(cascade_folder, tmp_path / "spoilt")


def same(one, other):
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_a_ranker_comes_back_to_the_bit(tmp_path, model, encoder_folder):
    checkpoint.save(model, tmp_path / "deep" / "ranker", tokenizer=encoder_folder, card="")
    loaded = checkpoint.load(tmp_path / "deep" / "ranker")
    assert loaded.shape == model.shape
    assert same(loaded, model)
    assert not loaded.training


@pytest.mark.parametrize(
    "name", ["roberta", "distilbert", "electra", "mpnet", "albert", "modernbert", "deberta-v2", "deberta-v2-conv"]
)
def test_every_architecture_comes_back(tmp_path, encoder_folders, name):
    model = CascadeRanker(load_encoder(encoder_folders[name]), CascadeShape((4,)))
    checkpoint.save(model, tmp_path, tokenizer=encoder_folders[name], card="")
    loaded = checkpoint.load(tmp_path)
    assert same(loaded, model)
    assert loaded.pad_id == model.pad_id


def test_the_folder_holds_the_files_that_are_promised(tmp_path, model, encoder_folder):
    checkpoint.save(model, tmp_path, tokenizer=encoder_folder, card="# Card\nÉté\n")
    names = {"cascada.json", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "README.md"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "# Card\nÉté\n"
    assert (tmp_path / "tokenizer.json").read_bytes() == (encoder_folder / "tokenizer.json").read_bytes()
    shape = {"format": 1, "exits": [1, 3], "head": "mean", "dropout": 0.2, "max_length": 48, "head_width": None}
    assert json.loads((tmp_path / "cascada.json").read_text()) == shape


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_who_may_read_one_file_may_read_all(cascade_folder):
    modes = {stat.S_IMODE(path.stat().st_mode) for path in cascade_folder.iterdir()}
    assert len(modes) == 1


def test_saving_again_replaces_the_ranker(tmp_path, model, encoder_folder):
    checkpoint.save(model, tmp_path, tokenizer=encoder_folder, card="one")
    other = CascadeRanker(load_encoder(encoder_folder), CascadeShape((4,), "first"))
    checkpoint.save(other, tmp_path, tokenizer=encoder_folder, card="two")
    assert same(checkpoint.load(tmp_path), other)
    assert (tmp_path / "README.md").read_text() == "two"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "README.md", "cascada.json"])
def test_a_save_that_fails_at_any_file_leaves_no_folder_that_loads(tmp_path, model, encoder_folder, name):
    (tmp_path / name / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match=name):
        checkpoint.save(model, tmp_path, tokenizer=encoder_folder, card="")
    assert not (tmp_path / "cascada.json").is_file()
    assert not list(tmp_path.glob(".saving-*"))
    with pytest.raises(CascadaError, match=r"cascada\.json"):
        Ranker.load(str(tmp_path))


def test_a_save_over_an_old_ranker_that_fails_does_not_leave_a_mixture(folder, model, encoder_folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json" / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match=r"tokenizer\.json"):
        checkpoint.save(model, folder, tokenizer=encoder_folder, card="")
    with pytest.raises(CascadaError, match=r"not a ranker: it has no cascada\.json"):
        checkpoint.load(folder)


# What cannot be loaded is reported in a sentence


def refused(folder, sentence):
    with pytest.raises(CascadaError, match=sentence) as caught:
        checkpoint.load(folder)
    assert "\n" not in str(caught.value)


def test_a_missing_folder(tmp_path):
    refused(tmp_path / "nowhere", "There is no folder .*nowhere")


def test_an_encoder_is_not_a_ranker(encoder_folder):
    refused(encoder_folder, r"is not a ranker: it has no cascada\.json")


def test_truncated_weights(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-100])
    refused(folder, r"model\.safetensors cannot be read .*incomplete or damaged")


def test_missing_weights(folder):
    (folder / "model.safetensors").unlink()
    refused(folder, r"model\.safetensors cannot be read .*incomplete or damaged")


def test_weights_of_another_shape(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["heads.2.out.weight"]
    save_file(weights, folder / "model.safetensors")
    refused(folder, r"model\.safetensors does not hold the weights that cascada\.json describes")


SHAPES = {
    "not JSON": ("{", "damaged"),
    "a list": ("[]", "damaged"),
    "no exits": ('{"format": 1}', "damaged: .*exits"),
    "exits of words": ('{"format": 1, "exits": ["last"]}', "damaged"),
    "an unknown key": ('{"format": 1, "exits": [2, 4], "colour": 1}', "damaged: .*colour"),
    "max_length of words": (
        '{"format": 1, "exits": [2, 4], "max_length": "64"}',
        "max_length is '64'; it must be a whole number",
    ),
    "too many layers": ('{"format": 1, "exits": [2, 40]}', "last exit is at layer 40, but the encoder has 4"),
    "a later format": ('{"format": 2, "exits": [2, 4]}', "has format 2; this version of Cascada reads format 1"),
    "not UTF-8": (b'{"format": 1, "exits": [2, 4], "head": "\xff"}', "damaged"),
}


@pytest.mark.parametrize(("content", "sentence"), SHAPES.values(), ids=SHAPES)
def test_a_damaged_shape(folder, content, sentence):
    (folder / "cascada.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(folder, sentence)


# The hub's cache


@pytest.fixture
def hub_cache(tmp_path, encoder_folder, monkeypatch):
    """The tiny BERT as `org/name` in a cache of the hub; the network is off."""
    from huggingface_hub import constants

    repository = tmp_path / "models--org--name"
    commit = "0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(encoder_folder, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    assert constants.HF_HUB_OFFLINE
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    return repository / "snapshots" / commit


def test_a_hub_name_is_found_in_the_cache_without_the_network(hub_cache, encoder_folder):
    assert same(load_encoder("org/name"), load_encoder(encoder_folder))
    assert tokenizer_folder("org/name").resolve() == hub_cache.resolve()


def test_a_hub_name_that_is_not_in_the_cache_is_a_sentence(hub_cache):
    for find in (load_encoder, tokenizer_folder):
        with pytest.raises(CascadaError, match="org/other") as caught:
            find("org/other")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["no such/place/at all", "../x", ""])
def test_what_is_no_hub_name_at_all_is_a_sentence(name):
    for find in (load_encoder, tokenizer_folder):
        with pytest.raises(CascadaError) as caught:
            find(name)
        assert "\n" not in str(caught.value)


def test_a_tokenizer_is_found_in_its_folder(encoder_folder):
    assert tokenizer_folder(str(encoder_folder)) == encoder_folder


def test_a_folder_without_a_fast_tokenizer_is_rejected(tmp_path):
    with pytest.raises(CascadaError, match=r"has no tokenizer\.json; only fast tokenizers"):
        tokenizer_folder(str(tmp_path))


def test_training_does_not_begin_with_an_exported_ranker(cascade_folder, tmp_path):
    export(cascade_folder, tmp_path / "out", "fp32")
    with pytest.raises(CascadaError, match="is an exported ranker, for ranking only"):
        checkpoint.begin(str(tmp_path / "out"))
