"""Where int8 products crash, an int8 ranker multiplies in float32."""

import numpy as np
import pytest

from cascada.core.probe import PROBES, can_run, outcomes_file
from cascada.graphs.session import stage_file
from cascada.ranking import Ranker
from cascada.systems.export import export

CRASH = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture
def int8_probe(monkeypatch, tmp_path):
    """`int8_probe(code)`: a machine that was not probed before, on which the int8 probe runs this code instead."""
    monkeypatch.setenv("CASCADA_CACHE", str(tmp_path / "cache"))

    def replace(code):
        can_run.cache_clear()
        outcomes_file().unlink(missing_ok=True)
        monkeypatch.setitem(PROBES, "onnxruntime int8", code)

    yield replace
    can_run.cache_clear()


def test_where_int8_crashes_an_int8_ranker_multiplies_in_float_and_scores_nearly_the_same(
    int8_probe, cascade_folder, tmp_path, words
):
    export(cascade_folder, tmp_path / "out", "int8")
    texts = [" ".join(words[start : start + 5]) for start in range(20)]
    int8_probe("")
    fast = Ranker.load(tmp_path / "out")
    int8_probe(CRASH)
    safe = Ranker.load(tmp_path / "out")
    assert "MatMulInteger" in (tmp_path / "out" / stage_file(2)).read_bytes().decode("latin1")
    assert "MatMulInteger" not in (tmp_path / "out" / stage_file(2, safe=True)).read_bytes().decode("latin1")
    rankings = [ranker.rank("bada?", texts, drop=0) for ranker in (fast, safe)]
    scores = [
        np.array([item.raw_score for item in sorted(ranking, key=lambda item: item.index)]) for ranking in rankings
    ]
    assert not np.array_equal(*scores)
    assert np.corrcoef(*scores)[0, 1] > 0.98
