"""A crash is found out in a child process, and remembered."""

import json
import sys

import pytest

from cascada.core import probe as probes
from cascada.core.probe import PROBES, ProbeResult, can_run, outcomes_file, probe

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


def test_a_probe_that_succeeds_returns_its_last_line():
    assert probe("print('first'); print('last')") == ProbeResult("ok", "last")


def test_a_child_that_dies_of_an_instruction_leaves_its_parent_alive():
    result = probe(CRASH)
    assert result == ProbeResult("died", "SIGILL")
    assert str(result) == "died by SIGILL"


def test_a_library_that_is_not_installed_is_missing():
    assert probe("import no_such_library") == ProbeResult("missing", "No module named 'no_such_library'")


@pytest.mark.parametrize(
    ("code", "detail"),
    [("assert 1 + 1 == 3, 'wrong'", "AssertionError: wrong"), ("import sys; sys.exit(4)", "exit code 4")],
)
def test_a_probe_that_fails_says_why(code, detail):
    assert probe(code) == ProbeResult("failed", detail)


def test_a_probe_that_takes_too_long_is_ended():
    assert probe("import time; time.sleep(3600)", timeout=0.2) == ProbeResult("timed out", "no answer in 0.2 seconds")


def test_the_environment_is_inherited_and_extended(monkeypatch):
    monkeypatch.setenv("HERE", "1")
    assert probe("import os; print(os.environ['HERE'], os.environ['MORE'])", env={"MORE": "2"}).detail == "1 2"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 always looks there")
def test_a_file_in_the_users_folder_is_not_taken_for_a_library(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert probe("import json").outcome == "ok"


def test_the_real_int8_probe_runs_where_onnxruntime_is_installed():
    pytest.importorskip("onnxruntime")
    assert probe(PROBES["onnxruntime int8"]).outcome == "ok"


@pytest.fixture
def int8_probe(monkeypatch, tmp_path):
    """`int8_probe(code)`: a new process, in which the int8 probe runs this code instead."""
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "cache"))

    def replace(code):
        can_run.cache_clear()
        monkeypatch.setitem(PROBES, "onnxruntime int8", code)

    yield replace
    can_run.cache_clear()


def test_a_probe_that_dies_cannot_run(int8_probe):
    int8_probe(CRASH)
    assert not can_run("onnxruntime int8")
    (outcome,) = json.loads(outcomes_file().read_text()).values()
    assert outcome == "died"


def test_other_processes_remember_the_outcome(int8_probe):
    int8_probe("")
    assert can_run("onnxruntime int8")
    int8_probe(CRASH)
    assert can_run("onnxruntime int8")  # not tried again


def test_another_version_of_the_library_is_tried_again(int8_probe, monkeypatch):
    int8_probe("")
    assert can_run("onnxruntime int8")
    int8_probe(CRASH)
    monkeypatch.setattr(probes, "installed_version", lambda package: "99")
    assert not can_run("onnxruntime int8")


def test_a_damaged_file_of_outcomes_is_ignored(int8_probe):
    int8_probe("")
    outcomes_file().parent.mkdir()
    outcomes_file().write_text("{ not JSON")
    assert can_run("onnxruntime int8")


def test_a_probe_that_ran_out_of_time_or_memory_is_tried_again_by_the_next_process(int8_probe):
    int8_probe("raise MemoryError")
    assert not can_run("onnxruntime int8")
    assert not outcomes_file().exists()
    int8_probe("")
    assert can_run("onnxruntime int8")


def test_without_a_cache_folder_it_is_tried_each_time(int8_probe, tmp_path):
    int8_probe("")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert can_run("onnxruntime int8")
