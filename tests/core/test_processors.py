"""What crashes here is found out in a child, remembered, and avoided."""

import json

import numpy as np
import pytest

from cascada.core import doctor
from cascada.core import processors as host
from cascada.graphs.session import stage_file
from cascada.ranking import Ranker
from cascada.systems.export import export

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """`machine(code)`: a machine that has not been looked at, on which the int8 probe runs other code."""
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "cache"))

    def make(code):
        host.survives.cache_clear()
        monkeypatch.setitem(doctor.PROBES, "onnxruntime int8", code)

    yield make
    host.survives.cache_clear()


def test_what_kills_the_child_is_known_without_dying(machine):
    machine(DIES)
    assert not host.survives("onnxruntime int8")
    (answer,) = json.loads(host.memory_file().read_text()).values()
    assert answer == "died"


def test_the_answer_is_remembered_by_other_processes(machine):
    machine("")
    assert host.survives("onnxruntime int8")
    machine(DIES)
    assert host.survives("onnxruntime int8")  # not tried again


def test_another_version_is_tried_again(machine, monkeypatch):
    machine("")
    assert host.survives("onnxruntime int8")
    machine(DIES)
    monkeypatch.setattr(doctor, "version", lambda name: "99")
    assert not host.survives("onnxruntime int8")


def test_a_damaged_memory_is_no_obstacle(machine):
    machine("")
    host.memory_file().parent.mkdir()
    host.memory_file().write_text("{ not JSON")
    assert host.survives("onnxruntime int8")


def test_what_ran_out_of_time_or_memory_is_tried_again_by_the_next_process(machine):
    machine("raise MemoryError")
    assert not host.survives("onnxruntime int8")
    assert not host.memory_file().exists()
    machine("")
    assert host.survives("onnxruntime int8")


def test_without_a_place_to_remember_it_is_tried_each_time(machine, monkeypatch, tmp_path):
    machine("")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert host.survives("onnxruntime int8")


def test_where_int8_crashes_an_int8_ranker_multiplies_in_float_and_scores_nearly_the_same(
    machine, cascade_folder, tmp_path, words
):
    export(cascade_folder, tmp_path / "out", "int8")
    texts = [" ".join(words[start : start + 5]) for start in range(20)]
    machine("")
    fast = Ranker.load(tmp_path / "out")
    machine(DIES)
    (tmp_path / "cache" / "host.json").unlink()
    safe = Ranker.load(tmp_path / "out")
    assert "MatMulInteger" in (tmp_path / "out" / stage_file(2)).read_bytes().decode("latin1")
    assert "MatMulInteger" not in (tmp_path / "out" / stage_file(2, safe=True)).read_bytes().decode("latin1")
    one, other = (ranker.rank("bada?", texts, drop=0) for ranker in (fast, safe))
    raw = [np.array([item.raw_score for item in sorted(r, key=lambda item: item.index)]) for r in (one, other)]
    assert not np.array_equal(*raw)
    assert np.corrcoef(*raw)[0, 1] > 0.98
