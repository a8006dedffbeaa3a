"""A model's folder is complete or is not a model, and damage is named."""

import json
from contextlib import suppress

import pytest

from cascada.core import folder as folders
from cascada.core.errors import CascadaError
from cascada.core.folder import check_manifest, is_exported, kind_of, parse_shape, read_shape, saving

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
    check_manifest(folder)
    (folder / "model.bin").write_text("other")
    with pytest.raises(CascadaError, match=r"model\.bin is not the file that was exported"):
        check_manifest(folder)
    (folder / "model.bin").unlink()
    with pytest.raises(CascadaError, match=r"lacks model\.bin: the export is incomplete"):
        check_manifest(folder)
    (folder / "manifest.json").write_text(json.dumps({"sha256": 1}))
    with pytest.raises(CascadaError, match=r"manifest\.json is damaged"):
        check_manifest(folder)
