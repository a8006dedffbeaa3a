"""benchmarks/store.py, on a tiny decoupled ranker: what it says of quality and room is so."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

from cascada.data import Candidate, Group, load, qrels, write_jsonl
from cascada.metrics import evaluate
from cascada.ranking import Ranker
from cascada.ranking.runs import exit_runs
from cascada.systems.decoupled.folder import begin, save
from cascada.systems.decoupled.shape import DecoupledShape

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "store.py"
sys.path.append(str(SCRIPT.parent))


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("store_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_quality_is_that_of_the_ranker_and_room_that_of_the_form(
    script, encoder_folder, tmp_path, words, monkeypatch, capsys
):
    torch.manual_seed(0)
    model = begin(str(encoder_folder), DecoupledShape(2, (3,), max_length=32, question_length=12))
    save(model, tmp_path / "dc", tokenizer=encoder_folder, card="")
    groups = [
        Group(
            f"{words[number]} ?",
            tuple(
                Candidate(" ".join(words[number + place : number + 7 * place + 3]), int(place == 2), str(place))
                for place in range(5)
            ),
            f"q{number}",
        )
        for number in range(6)
    ]
    data = tmp_path / "groups.jsonl"
    write_jsonl(groups, data)
    arguments = ["store.py", str(tmp_path / "dc"), str(data), "--documents", "9", "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    script.main()
    found = json.loads(capsys.readouterr().out)["forms"]
    read = load(data)
    expected = evaluate(exit_runs(Ranker.load(tmp_path / "dc"), read)[-1], qrels(read), ["MAP"]).mean["MAP"]
    assert found["fp32"]["MAP"] == pytest.approx(expected)
    assert found["int8"]["bytes per document"] <= found["fp16"]["bytes per document"]
    assert all(row["share %"] > 0 for row in found.values())
