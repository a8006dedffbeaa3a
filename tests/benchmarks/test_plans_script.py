"""benchmarks/plans.py, on a tiny cascade."""

import sys
from pathlib import Path

from cascada.data import Candidate, Group, write_jsonl

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import plans  # noqa: E402


def test_every_plan_has_its_time_its_cost_and_its_map(cascade_folder, tmp_path, words, monkeypatch, capsys):
    groups = []
    for number in range(4):
        texts = [f"{words[number + place]} {words[place]}" for place in range(10 + number)]
        candidates = tuple(Candidate(text, int(place == 0)) for place, text in enumerate(texts))
        groups.append(Group(words[number], candidates, f"q{number}"))
    write_jsonl(groups, tmp_path / "lists.jsonl")
    arguments = [str(cascade_folder), str(tmp_path / "lists.jsonl"), "--drop", "0", "--drop", "0.5", "--longest", "2"]
    monkeypatch.setattr(sys, "argv", ["plans", *arguments])
    plans.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 lists of 12 candidates on average"
    rows = {cells[1].strip(): [float(cell) for cell in cells[2:6]] for cells in (line.split("|") for line in lines[4:])}
    assert rows["0"][1:3] == [1, 1]
    assert rows["0.5"][2] < 1
    assert all(0 <= row[3] <= 1 for row in rows.values())
