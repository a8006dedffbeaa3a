"""benchmarks/margins.py, on a tiny cascade."""

import re
import sys
from pathlib import Path
from unittest.mock import ANY

import pytest
from typer.testing import CliRunner

from cascada.cli.main import app
from cascada.data import Candidate, Group, write_jsonl

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import margins  # noqa: E402


def test_the_margin_whose_worst_set_loses_least_within_the_cost_is_found(
    cascade_folder, tmp_path, words, monkeypatch, capsys
):
    sets = []
    for name in ("one", "other"):
        groups = []
        for number in range(6):
            texts = [f"{name} {words[number + place]} {words[place]}" for place in range(12)]
            candidates = tuple(Candidate(text, int(place == number)) for place, text in enumerate(texts))
            groups.append(Group(words[number], candidates, f"q{number}"))
        lists, scores = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.npz"
        write_jsonl(groups, lists)
        arguments = ["tune", cascade_folder, lists, "--mode", "raw", "--scores", scores, "--ratios", "0,0.5"]
        done = CliRunner().invoke(app, [*map(str, arguments)])
        assert done.exit_code == 0, done.output
        sets.append(f"{lists}={scores}")

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["margins", str(cascade_folder), *sets, "--at-least", "1", *options])
        margins.main()
        return re.fullmatch(
            r"(\d+) tried: margins (\S+)\nMAP falls by (\S+) at most, at a relative cost of (\S+) at most\n",
            capsys.readouterr().out,
        ).groups()

    assert run("--margins", "0.001,99", "--most", "1") == ("2", "99", "0.0000", "1.000")
    _, margin, _, cost = run("--margins", "0,99", "--most", "0.9")
    assert (margin, float(cost) < 0.9) == ("0", True)
    with pytest.raises(SystemExit):
        run("--margins", "99", "--most", "0.5")
    capsys.readouterr()
    assert run("--margins", "99", "--most", "1", "--share", "0.5") == ("1", "99", ANY, "0.750"), "6 of 12 leave"
    wrong = [
        (["--margins", "1", "--share", "1"], "drop is 1.0; a drop ratio is a number from 0 to below 1."),
        (["--margins", "1", "--margins", "1", "--at-least", "1,1"], "but this ranker drops candidates at 1 exits."),
    ]
    for options, sentence in wrong:
        capsys.readouterr()
        with pytest.raises(SystemExit):
            run(*options)
        assert capsys.readouterr().err.rstrip().endswith(sentence)
