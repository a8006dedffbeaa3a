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


def test_it_writes_a_ranker_and_prints_its_size(cascade_folder, tmp_path):
    said = run(cascade_folder, tmp_path / "out")
    assert "MB, not compared: give --data" in said
    assert Ranker.load(tmp_path / "out").exits == Ranker.load(cascade_folder).exits


def test_with_data_it_prints_the_loss(cascade_folder, tmp_path, dev):
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


def test_an_export_that_loses_too_much_is_removed(cascade_folder, tmp_path, dev, lossy):
    with pytest.raises(CascadaError, match=r"Not exported: MAP fell by 0.0200, from .* keep it anyway \(--force\)"):
        run(cascade_folder, tmp_path / "out", "--data", dev)
    assert not (tmp_path / "out").exists()


def test_a_rejected_export_into_an_existing_folder_is_not_a_ranker(cascade_folder, tmp_path, dev, lossy):
    (tmp_path / "out").mkdir()
    with pytest.raises(CascadaError, match="Not exported"):
        run(cascade_folder, tmp_path / "out", "--data", dev)
    assert not (tmp_path / "out" / "cascada.json").exists()


def test_missing_data_is_reported_before_anything_is_written(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match=r"nowhere\.jsonl"):
        run(cascade_folder, tmp_path / "out", "--data", tmp_path / "nowhere.jsonl")
    assert not (tmp_path / "out").exists()


def test_force_or_a_larger_loss_keeps_the_export(cascade_folder, tmp_path, dev, lossy):
    run(cascade_folder, tmp_path / "out", "--data", dev, "--force")
    run(cascade_folder, tmp_path / "other", "--data", dev, "--loss", 0.03)
    assert (tmp_path / "out" / "cascada.json").exists()


def test_another_precision_is_rejected(cascade_folder, tmp_path):
    with pytest.raises(CascadaError, match="precision is 'fp4'; it must be int8 or fp32"):
        run(cascade_folder, tmp_path / "out", "--precision", "fp4")


def test_exit_0_needs_texts(cascade_folder, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(CascadaError, match=r"empty\.txt has no texts\."):
        run(cascade_folder, tmp_path / "out", "--texts", tmp_path / "empty.txt")
    assert not (tmp_path / "out").exists()
