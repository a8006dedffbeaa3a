"""A mistake is one sentence in words: no error's class, number or arguments, and no traceback."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cascada.cli.main import main
from cascada.core.errors import described

PYTHON = re.compile(
    r"Traceback|\[Errno|<class|\w+Error\b|\w+Exception\b|ConversionSyntax|\\udc|invalid literal|0x[0-9a-f]{6}"
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with files that are not what a command expects."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("A sentence.")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "latin.txt").write_bytes(b"fa\xe7ade")
    (tmp_path / "label.csv").write_text("question,passage,label\nwho?,me,abc\n")
    (tmp_path / "half.jsonl").write_text('{"question": "who?", "candidates": [')
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "cascada.json").write_text('{"format": 1, "exits": ["last"]}')
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "cascada.json").write_text('{"format": 1, "ex')
    return tmp_path


COMMANDS = [
    "rank q folder",
    "rank q nowhere.txt",
    "rank q nowhere-\udcff.txt",
    "rank q latin.txt",
    "rank q folder/a.txt --model words",
    "rank q folder/a.txt --model half",
    "rank q folder/a.txt --drop 1e",
    "rank q folder/a.txt --drop 0.3,x",
    "rank q folder/a.txt --keep 1.5",
    "ask q folder --index folder",
    "ask q latin.txt",
    "ask q nowhere-\udcff.txt",
    "index folder folder/a.txt",
    "data stats folder.jsonl",
    "data stats label.csv",
    "data stats half.jsonl",
    "data split label.csv a.jsonl b.jsonl --share abc",
    "data convert label.csv folder",
    "evaluate bm25 folder.jsonl",
    "evaluate bm25 label.csv --run folder",
    "cost --drop abc",
    "cost --drop 0.3.3",
    "train folder.yaml",
    "train latin.txt",
    "encode cascada-mini latin.txt store",
    "serve --keys folder",
    "store stats folder",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_is_told_without_python(here, command, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cascada", *command.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.startswith("cascada: ")
    assert error.count("\n") == 1
    assert not PYTHON.search(error), error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (IsADirectoryError(21, "Is a directory", "x"), "Is a directory"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "it is not UTF-8"),
        (KeyError("exits"), "it has no 'exits'"),
        (TypeError("'int' object is not iterable"), "its values are not of the types that belong there"),
        (ValueError("The reason.\nAdvice."), "The reason"),
    ],
)
def test_an_error_is_described_in_words(error, words):
    assert described(error) == words


def test_json_is_described_by_its_line_and_column():
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{\n "a": }')
    assert described(caught.value) == "it is not JSON, from line 2, column 7 on"


LOCKED = """
import os, sys
from cascada import CascadaError
from cascada.search import read_passages
if os.geteuid() == 0:  # root may do everything
    os.setegid(65534)
    os.seteuid(65534)
try:
    read_passages([sys.argv[1]])
except CascadaError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_folder_without_permission_is_called_a_folder():
    with TemporaryDirectory() as open_to_all:
        os.chmod(open_to_all, 0o755)
        locked = Path(open_to_all, "locked")
        locked.mkdir(mode=0o000)
        done = subprocess.run([sys.executable, "-c", LOCKED, locked], capture_output=True, text=True, timeout=300)
        locked.chmod(0o755)
    assert done.stdout == f"{locked} is a folder whose files cannot be listed.\n", done.stderr
