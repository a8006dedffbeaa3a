"""benchmarks/open_qa.py and its plot: the first stage ranks the answer last, the reranker first."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from cascada.data import Candidate, Group, write_jsonl

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))

    def call(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        importlib.import_module(name).main()

    return call


@pytest.fixture
def results_file(run, tmp_path, capsys):
    """BM25's results for three questions whose answer the first stage ranked last of twelve."""
    names = ("oxygen", "copper", "sulphur")
    incorrect = tuple(Candidate(f"It rained on day {day}.", 0, f"w{day}") for day in range(11))
    groups = [
        Group(f"who found {name}?", (*incorrect, Candidate(f"A chemist found {name}.", 1, "r")), name) for name in names
    ]
    write_jsonl(groups, tmp_path / "groups.jsonl")
    run("open_qa", tmp_path / "groups.jsonl", "K=1=bm25", "K=2=bm25", "--json")
    out = tmp_path / "results.json"
    out.write_text(capsys.readouterr().out)
    return out


def test_a_reranker_is_compared_with_the_first_stage(results_file):
    rows = {row["reranker"]: row for row in json.loads(results_file.read_text())["rows"]}
    assert [(name, row["P@10"], row["PBT@10"], row["MAP"]) for name, row in rows.items()] == [
        ("K=1", 1.0, 1.0, 1.0),
        ("K=2", 1.0, 1.0, 1.0),
        ("first stage", 0.0, 0.0, pytest.approx(1 / 12)),
    ]
    assert rows["K=1"]["speed-up"] == 1.0


@pytest.mark.parametrize("rows", [(), ("K=2",)], ids=["all rows", "one besides the first"])
def test_printed_results_are_plotted(run, results_file, tmp_path, rows):
    run("open_qa_picture", results_file, tmp_path / "figure.png", *rows)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_missing_row_is_named(run, results_file, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("open_qa_picture", results_file, tmp_path / "figure.png", "K=9")
    assert "has no row K=9: there are K=1, K=2, first stage" in capsys.readouterr().err


def test_rankings_that_were_kept_are_not_made_again(run, results_file, tmp_path, capsys):
    kept = tmp_path / "rankings.json"
    call = "open_qa", tmp_path / "groups.jsonl", "first=bm25"
    run(*call, "--rankings", kept, "--json")
    first = json.loads(capsys.readouterr().out)["rows"][0]
    run(*call, "second=bm25", "--rankings", kept, "--json")
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0] == first, "to the last digit of its seconds"
    assert [row["MAP"] for row in rows] == [1.0, 1.0, pytest.approx(1 / 12)]
    assert json.loads(kept.read_text()).keys() == {"first", "second"}
    run(*call, "--rankings", kept, "--questions", 2, "--json")
    assert json.loads(capsys.readouterr().out)["questions"] == 2
