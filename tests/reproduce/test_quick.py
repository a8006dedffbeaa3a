"""The papers' own commands on the small data."""

import json
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
QUICK = ("--quick", "--work", "small", "--papers", str(REPOSITORY / "recipes" / "papers.yaml"))


def cascada(*words, folder):
    command = [sys.executable, "-m", "cascada.cli.main", "reproduce", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_table_that_reads_data_and_one_that_trains(tmp_path):
    done = cascada("cascade table 1", "tanda table 4", *QUICK, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    statistics, study = json.loads(done.stdout)
    check_statistics(*(one["output"] for one in statistics["commands"]))
    mined, trained = study["commands"]
    assert mined["command"].startswith("cascada data mine squad_sentences")
    rows = [line.split("|")[2].strip() for line in trained["output"].splitlines() if "| trecqa |" in line]
    assert rows == ["FT", "TANDA"]
    assert (tmp_path / "small" / "runs" / "transfer-short" / "cascada.json").exists()
    text = (tmp_path / "reproduced" / "report.md").read_text()
    assert "## TANDA, Table 4 (quick)" in text
    assert "\n| trecqa | TANDA | 0." in text


def check_statistics(long_lists, counts, trecqa, wikiqa):
    assert "16 questions" in long_lists
    assert "trecqa-long" in counts
    assert "train-all" in trecqa
    rows = [line.split() for line in wikiqa.splitlines() if "no-all-negative" in line]
    assert [row[-4] for row in rows] == ["23", "7", "7"]


def test_small_data_is_never_put_among_real_data(tmp_path):
    (tmp_path / "small" / "data" / "wikiqa").mkdir(parents=True)
    done = cascada("cascade table 1", *QUICK, folder=tmp_path)
    assert done.returncode == 2
    assert "has data of its own" in done.stderr.splitlines()[-1]
    assert list((tmp_path / "small" / "data").iterdir()) == [tmp_path / "small" / "data" / "wikiqa"]
