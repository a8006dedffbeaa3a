"""A model's folder is complete or is not a model, and damage is named."""

import json
import shutil
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from cascada import Ranker
from cascada.core import folder as folders
from cascada.core.errors import CascadaError
from cascada.core.folder import is_exported, kind_of, parse_shape, read_shape, saving
from cascada.core.manifest import check_manifest, write_manifest
from cascada.systems.decoupled.shape import read_exported
from cascada.systems.load import BUNDLED_FOLDER

SHAPE = {"exits": [2, 4], "kind": "decoupled"}


def save(folder, content="weights", **options):
    with saving(folder, SHAPE, **options) as temporary:
        (temporary / "model.bin").write_text(content)
    return folder


def test_what_is_saved_is_read_again(tmp_path):
    folder = save(tmp_path / "model", card="# A model\n")
    assert read_shape(folder) == {"exits": (2, 4), "kind": "decoupled"}
    assert (kind_of(folder), is_exported(folder)) == ("decoupled", False)
    assert (folder / "README.md").read_text() == "# A model\n"
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "cascada.json", "model.bin"]


def test_a_save_that_fails_keeps_the_model_that_was_there(tmp_path):
    folder = save(tmp_path / "model")
    with suppress(RuntimeError), saving(folder, {"exits": [6]}) as temporary:
        (temporary / "model.bin").write_text("new")
        raise RuntimeError
    assert (read_shape(folder)["exits"], (folder / "model.bin").read_text()) == ((2, 4), "weights")
    assert len(list(folder.iterdir())) == 2


def test_a_folder_is_no_model_until_its_last_file_is_in_place(tmp_path, monkeypatch):
    folder = save(tmp_path / "model")
    replace, moved = folders.os.replace, []

    def observed(source, target):
        moved.append(target.name)
        assert not (folder / "cascada.json").exists()
        replace(source, target)

    monkeypatch.setattr(folders.os, "replace", observed)
    save(folder, "new")
    assert moved == ["model.bin", "cascada.json"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ('{"exits": [2]}', "is damaged"),
        ('{"format": 1}', "is damaged"),
        ('{"format": 9, "exits": []}', "has format 9; this version of Cascada reads format 1"),
    ],
)
def test_a_shape_that_cannot_be_read_is_rejected_by_name(tmp_path, content, problem):
    (tmp_path / "cascada.json").write_text(content)
    with pytest.raises(CascadaError, match=rf"cascada\.json {problem}"):
        read_shape(tmp_path)


def test_a_key_that_the_shape_does_not_have_is_rejected_unless_it_is_ignored(tmp_path):
    folder = save(tmp_path / "model")
    assert parse_shape(folder, dict, ignore=("exits",)) == {}
    with pytest.raises(CascadaError, match=r"cascada\.json is damaged: .*exits"):
        parse_shape(folder, lambda: None)


def test_a_changed_or_missing_file_does_not_pass_the_manifest(tmp_path):
    folder = save(tmp_path / "model", manifest=True)
    (folder / "README.md").write_text("A card may change.")
    check_manifest(folder, lists="cascada.json")
    (folder / "model.bin").write_text("other")
    with pytest.raises(CascadaError, match=r"model\.bin is not the file that was exported"):
        check_manifest(folder, lists="cascada.json")
    (folder / "model.bin").unlink()
    with pytest.raises(CascadaError, match=r"lacks model\.bin: the export is incomplete"):
        check_manifest(folder, lists="cascada.json")
    (folder / "manifest.json").write_text(json.dumps({"sha256": 1}))
    with pytest.raises(CascadaError, match=r"manifest\.json is damaged"):
        check_manifest(folder, lists="cascada.json")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sha256": {}}, "is damaged: it holds no checksums"),
        ({"sha256": {"../model.bin": "0"}}, "is damaged: it holds no checksums of files in this folder"),
        ({"format": 2}, "has format 2; this version of Cascada reads format 1"),
        (lambda sums: sums.pop("model.bin"), r"does not list model\.bin"),
        (lambda sums: sums.pop("cascada.json"), r"does not list cascada\.json"),
    ],
    ids=["empty", "elsewhere", "format", "weights", "shape"],
)
def test_a_manifest_cannot_leave_out_what_is_loaded(tmp_path, change, problem):
    folder = save(tmp_path / "model", manifest=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    if callable(change):
        change(manifest["sha256"])
    else:
        manifest |= change
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "model.bin").write_text("changed weights")
    with pytest.raises(CascadaError, match=rf"manifest\.json {problem}"):
        check_manifest(folder, lists="cascada.json")


BUNDLED_SHAPE = json.loads((BUNDLED_FOLDER / "cascada.json").read_text())


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("max_length", 10**9, "max_length is 1000000000; it must be at most 65,536"),
        ("hidden", "abc", "hidden is 'abc'; it must be a whole number from 0"),
        ("hidden", -1, "hidden is -1"),
        ("pad_id", None, "pad_id is None"),
        ("precision", 8, "precision is 8; it must be a text"),
        ("match", ["late"], r"match is \['late'\]; there are cosine, late"),
        ("keep", 1.5, "keep is 1.5"),
    ],
)
def test_an_absurd_value_in_the_shape_is_rejected_by_name(tmp_path, key, value, problem):
    (tmp_path / "cascada.json").write_text(json.dumps(BUNDLED_SHAPE | {key: value}))
    with pytest.raises(CascadaError, match=rf"cascada\.json is damaged: {problem}"):
        read_exported(tmp_path)


def test_an_absurd_padding_id_is_rejected(tmp_path):
    shutil.copytree(BUNDLED_FOLDER, tmp_path / "model")
    (tmp_path / "model" / "cascada.json").write_text(json.dumps(BUNDLED_SHAPE | {"pad_id": 10**9}))
    write_manifest(tmp_path / "model")
    with pytest.raises(CascadaError, match="pad_id is 1000000000; the vocabulary has 30,522 pieces"):
        Ranker.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["exit0.npz", "meeting.npz"])
@pytest.mark.parametrize("content", [b"", b"PK not a zip file", None], ids=["empty", "no archive", "another archive"])
def test_arrays_that_are_damaged_under_a_manifest_that_fits_are_named(tmp_path, name, content):
    shutil.copytree(BUNDLED_FOLDER, tmp_path / "model")
    path = tmp_path / "model" / name
    if content is None:
        np.savez(path, other=np.zeros(3))
    else:
        path.write_bytes(content)
    write_manifest(tmp_path / "model")
    with pytest.raises(CascadaError, match=rf"{name} is damaged, or not what its model needs"):
        Ranker.load(tmp_path / "model")


@contextmanager
def small_files():
    """A limit on the size of files stands in for a full disk: the system refuses to write in the same way."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("existed", [False, True])
def test_a_full_disk_is_a_sentence_and_leaves_no_empty_folder(tmp_path, existed):
    folder = tmp_path / "new" / "model"
    if existed:
        save(folder)
    with small_files(), pytest.raises(CascadaError) as refused:
        save(folder, "large" * 10_000)
    advice = "File too large. Free some space, or write to another disk."
    assert str(refused.value) == f"{folder} cannot be written: {advice}"
    assert (tmp_path / "new").exists() == existed
    assert not existed or (folder / "model.bin").read_text() == "weights"


def test_weights_on_a_full_disk_are_a_sentence_too(ranker_folder, tmp_path):
    from cascada.systems.cascade.folder import load, save

    model = load(ranker_folder)
    with small_files(), pytest.raises(CascadaError, match=r"cannot be written: File too large\. Free some space"):
        save(model, tmp_path / "model", tokenizer=ranker_folder, card="")
    assert not (tmp_path / "model").exists()
