import sys

import pytest

from cascada.core.probe import Probe, probe


def test_what_works_says_its_last_line():
    assert probe("print('first'); print('last')") == Probe("ok", "last")


def test_a_child_that_dies_of_an_instruction_leaves_its_parent_alive_to_say_so():
    found = probe("import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert found == Probe("died", "SIGILL")
    assert str(found) == "died by SIGILL"


def test_a_library_that_is_not_there():
    assert probe("import no_such_library") == Probe("missing", "No module named 'no_such_library'")


@pytest.mark.parametrize(
    ("code", "detail"),
    [("assert 1 + 1 == 3, 'wrong'", "AssertionError: wrong"), ("import sys; sys.exit(4)", "exit code 4")],
)
def test_what_fails_says_why(code, detail):
    assert probe(code) == Probe("failed", detail)


def test_what_takes_too_long_is_ended():
    assert probe("import time; time.sleep(3600)", timeout=0.2) == Probe("timed out", "no answer in 0.2 seconds")


def test_the_environment_is_this_one_and_more(monkeypatch):
    monkeypatch.setenv("HERE", "1")
    assert probe("import os; print(os.environ['HERE'], os.environ['MORE'])", env={"MORE": "2"}).detail == "1 2"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 always looks there")
def test_a_file_in_the_users_folder_is_not_taken_for_a_library(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert probe("import json").outcome == "ok"
