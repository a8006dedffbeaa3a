"""benchmarks/open_qa.py and its picture, on a first stage that is wrong and a reranker that is not."""

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
def found(run, tmp_path, capsys):
    """What BM25 makes of three questions whose answer the first stage found last of twelve."""
    names = ("oxygen", "copper", "sulphur")
    wrong = tuple(Candidate(f"It rained on day {day}.", 0, f"w{day}") for day in range(11))
    groups = [
        Group(f"who found {name}?", (*wrong, Candidate(f"A chemist found {name}.", 1, "r")), name) for name in names
    ]
    write_jsonl(groups, tmp_path / "groups.jsonl")
    run("open_qa", tmp_path / "groups.jsonl", "K=1=bm25", "K=2=bm25", "--json")
    out = tmp_path / "found.json"
    out.write_text(capsys.readouterr().out)
    return out


def test_a_reranker_is_measured_beside_the_first_stage(found):
    rows = {row["reranker"]: row for row in json.loads(found.read_text())["rows"]}
    assert [(name, row["P@10"], row["PBT@10"], row["MAP"]) for name, row in rows.items()] == [
        ("K=1", 1.0, 1.0, 1.0),
        ("K=2", 1.0, 1.0, 1.0),
        ("first stage", 0.0, 0.0, pytest.approx(1 / 12)),
    ]
    assert rows["K=1"]["speed-up"] == 1.0


@pytest.mark.parametrize("rows", [(), ("K=2",)], ids=["all rows", "one beside the first"])
def test_a_picture_is_drawn_of_what_was_printed(run, found, tmp_path, rows):
    run("open_qa_picture", found, tmp_path / "figure.png", *rows)
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_a_row_that_is_not_there_is_named(run, found, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("open_qa_picture", found, tmp_path / "figure.png", "K=9")
    assert "has no row K=9: there are K=1, K=2, first stage" in capsys.readouterr().err
