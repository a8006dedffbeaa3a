"""benchmarks/robustness.py, at a size of seconds: bad files beside a good one, and a child that finds a loss."""

import importlib.util
import json
import random
import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(FOLDER))


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("robustness_script", FOLDER / "robustness.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_bad_documents_are_left_out_or_read_and_never_take_a_good_one_along(script, tmp_path):
    script.robustness_kills.write_documents(tmp_path / "documents")
    found = list(script.trials("documents", {"documents": tmp_path / "documents"}, 8, seed=1))
    assert [(how, said) for how, outcome, said in found if outcome not in ("refused", "unharmed")] == []
    assert len(found) == 8


def test_a_changed_model_is_refused_and_an_absurd_one_too(script, tmp_path):
    child = script.Child()
    rng = random.Random(0)
    intact = shutil.copytree(script.BUNDLED_FOLDER, tmp_path / "intact")
    try:
        assert len(child.open("model", intact)["result"]) == 4
        script.damaged_copy(intact, tmp_path / "copy", rng, but=("README.md", "plan.json"))
        assert "refused" in child.open("model", tmp_path / "copy")
        shape = json.loads((intact / "cascada.json").read_text())
        script.linked_copy(intact, tmp_path / "copy")
        (tmp_path / "copy" / "cascada.json").unlink()
        (tmp_path / "copy" / "cascada.json").write_text(json.dumps(shape | {"hidden": 10**9}))
        (tmp_path / "copy" / "manifest.json").unlink()
        script.write_manifest(tmp_path / "copy")
        assert "refused" in child.open("model", tmp_path / "copy")
    finally:
        assert "result" in child.open("model", intact), "the original is untouched"
        child.close()


def test_a_child_that_dies_is_a_crash_and_the_next_one_answers(script, tmp_path):
    child = script.Child()
    (tmp_path / "good.txt").write_text("The good file has one sentence.")
    try:
        assert "refused" in child.open("documents", tmp_path)  # nothing but the good file
        child.process.kill()
        child.process.wait()
        assert "refused" in child.open("documents", tmp_path)
    finally:
        child.close()
