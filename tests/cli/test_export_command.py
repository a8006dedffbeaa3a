"""`cascada export`."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.core.errors import CascadaError
from cascada.ranking import Ranker
from cascada.systems import export as check


@pytest.fixture
def dev(tmp_path, words):
    """Ten questions with four candidates each."""
    rows = [
        {
            "question": words[start],
            "candidates": [{"text": " ".join(words[start : start + 3 + i]), "label": int(i == 1)} for i in range(4)],
        }
        for start in range(10)
    ]
    path = tmp_path / "dev.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments):
    result = CliRunner().invoke(app, ["export", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_it_writes_a_ranker_and_tells_its_size(cascade_folder, tmp_path):
    said = run(cascade_folder, tmp_path / "out")
    assert "MB, MAP not compared: give --data" in said
    assert Ranker.load(tmp_path / "out").exits == Ranker.load(cascade_folder).exits


def test_with_data_it_tells_what_is_lost(cascade_folder, tmp_path, dev):
    found = json.loads(run(cascade_folder, tmp_path / "out", "--precision", "fp32", "--data", dev, "--json"))
    assert found["MAP"] == pytest.approx(found["trained_MAP"])
    assert found["bytes"] > 10_000


@pytest.fixture
def lossy(monkeypatch):
    """Whatever is exported has lost two points of MAP."""
    real = check.agreement

    def agreement(*args):
        found = real(*args)
        return replace(found, exported=found.trained - 0.02)

    monkeypatch.setattr(check, "agreement", agreement)


def test_what_loses_too_much_is_refused_and_not_left_behind(cascade_folder, tmp_path, dev, lossy):
    with pytest.raises(CascadaError, match=r"Not exported: MAP fell by 0.0200, from .* --force keeps it"):
        run(cascade_folder, tmp_path / "out", "--data", dev)
    assert not (tmp_path / "out").exists()


def test_what_is_refused_is_no_ranker_in_a_folder_that_was_there_either(cascade_folder, tmp_path, dev, lossy):
    (tmp_path / "out").mkdir()
    with pytest.raises(CascadaError, match="Not exported"):
        run(cascade_folder, tmp_path / "out", "--data", dev)
    assert not (tmp_path / "out" / "cascada.json").exists()


def test_data_that_is_not_there_is_told_before_anything_is_written(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match=r"nowhere\.jsonl"):
        run(cascade_folder, tmp_path / "out", "--data", tmp_path / "nowhere.jsonl")
    assert not (tmp_path / "out").exists()


def test_unless_it_is_wanted_all_the_same(cascade_folder, tmp_path, dev, lossy):
    run(cascade_folder, tmp_path / "out", "--data", dev, "--force")
    run(cascade_folder, tmp_path / "other", "--data", dev, "--loss", 0.03)
    assert (tmp_path / "out" / "cascada.json").exists()


def test_another_precision_is_refused(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match="--precision takes int8 or fp32, not 'fp4'"):
        run(cascade_folder, tmp_path / "out", "--precision", "fp4")
