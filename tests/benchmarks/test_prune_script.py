"""benchmarks/prune.py on a small file in SQuAD's layout: what it says is cut and kept is so."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run the script on four passages whose answer is in the last of two sentences; the lines, by their names."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = ("oxygen", "copper", "sulphur", "iodine")
    paragraphs = [
        {
            "context": f"Rain fell for many days. A chemist found {name} in {1800 + number}.",
            "qas": [{"question": f"when was {name} found?", "answers": [_answer(name, number)]}],
        }
        for number, name in enumerate(names)
    ]
    file = tmp_path / "small.json"
    file.write_text(json.dumps({"data": [{"title": "Elements", "paragraphs": paragraphs}]}))

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["prune", *(str(file) if one == "FILE" else one for one in arguments)])
        importlib.import_module("prune").main()
        return [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]

    return call


def _answer(name, number):
    return {"text": str(1800 + number), "answer_start": len(f"Rain fell for many days. A chemist found {name} in ")}


def test_what_is_cut_and_kept(run):
    rows = run("--squad", "FILE", "--model", "bm25")
    alone, listed = rows[1:4], rows[5:8]
    assert [row[0] for row in alone] == ["nothing cut", "prune, 0.4 of the best score", "first sentences"]
    assert alone[0][1:] == ["0.0%", "100.0% (100.0% to 100.0%)", "100.0%"]
    assert alone[1][2:] == ["100.0% (100.0% to 100.0%)", "100.0%"]
    assert alone[1][1] == "43.4%"  # the sentences about rain
    assert listed[1][1:] == alone[1][1:]  # every passage has a sentence about something found
    assert float(alone[2][2].partition("%")[0]) < 50


def test_thresholds_are_tried_with_and_without_the_rules(run):
    names = [row[0] for row in run("--choose", "FILE", "--model", "bm25")[1:]]
    assert len(names) == 4 * 9
    assert names.count("alone") == 18
