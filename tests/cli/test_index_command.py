"""`cascada index`, as a user runs it."""

import json
import sys

import pytest

from cascada.cli.main import main


@pytest.fixture
def cascada(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cascada", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.txt").write_text("One.\n\nTwo.")
    (folder / "b.md").write_text("Three.")
    return folder


def test_it_prints_what_changed(cascada, folder, tmp_path):
    index = tmp_path / "index"
    did = "2 added, 0 changed, 0 unchanged, 0 forgotten, 0 left out"
    assert cascada("index", folder, index) == (0, f"{index}: 2 files, 3 passages ({did})\n", "")
    (folder / "b.md").unlink()
    code, out, error = cascada("index", folder, index, "--json")
    assert (code, error) == (0, "")
    assert json.loads(out) == {
        "files": 1,
        "passages": 2,
        "added": 0,
        "changed": 0,
        "unchanged": 1,
        "forgotten": 1,
        "left_out": 0,
    }


def test_several_paths_go_into_one_index_and_come_out_of_it(cascada, folder, tmp_path):
    (tmp_path / "c.html").write_text("<p>Four.")
    index = tmp_path / "index"
    assert json.loads(cascada("index", folder, tmp_path / "c.html", index, "--json")[1])["files"] == 3
    assert json.loads(cascada("index", folder, index, "--forget", "--json")[1]) == {
        "files": 1,
        "passages": 1,
        "forgotten": 2,
    }


def test_a_bad_file_is_reported_and_the_rest_is_added(cascada, folder, tmp_path):
    (folder / "c.txt").write_bytes(b"\xff")
    code, out, error = cascada("index", folder, tmp_path / "index", "--json")
    assert (code, json.loads(out)["files"], json.loads(out)["left_out"]) == (0, 2, 1)
    assert error == f"cascada: left out: {folder}/c.txt, line 1: not UTF-8 text; save the file as UTF-8.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere", "index"), "nowhere cannot be read: No such file or directory."),
        (("documents", "documents"), "documents is not an index and not empty: give the index a folder of its own."),
        (("empty", "index"), "There is nothing to read in"),
        (("documents", "nowhere", "--forget"), "nowhere does not exist: make one with"),
        (("documents", "documents/a.txt"), "The index documents/a.txt cannot be made: File exists."),
    ],
)
def test_a_mistake_is_one_sentence(cascada, folder, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    code, out, error = cascada("index", *arguments)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("cascada: ")
    assert sentence in error
