"""benchmarks/exit0.py and benchmarks/exit0_recall.py, on a tiny cascade with exit 0."""

import json
import re
import sys
from pathlib import Path

import pytest

from cascada.data import Candidate, Group, write_jsonl
from cascada.encoders import late_interaction
from cascada.systems.cut import cut

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import exit0  # noqa: E402
import exit0_recall  # noqa: E402


@pytest.fixture(scope="module")
def model(tmp_path_factory, cascade_folder, words):
    folder = tmp_path_factory.mktemp("exit0") / "model"
    cut(cascade_folder, (0, 4), folder, texts=words)
    return folder


@pytest.fixture
def lists(tmp_path, words):
    """The first word of the question is in every candidate, the second in the correct one."""
    groups = []
    for number in range(4):
        common, rare, *others = words[12 * number : 12 * number + 12]
        texts = [f"{common} {rare}", *(f"{common} {word}" for word in others)]
        candidates = tuple(Candidate(text, int(text.endswith(rare))) for text in reversed(texts))
        groups.append(Group(f"{common} {rare}", candidates, f"q{number}"))
    write_jsonl(groups, tmp_path / "lists.jsonl")
    return tmp_path / "lists.jsonl"


def test_the_ratios_of_exit_0_can_be_named(model, lists, monkeypatch, capsys):
    arguments = ["exit0", str(model), str(lists), "--mode", "raw", "--ratios", "0,0.75,0.85", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--json"])
    exit0.main()
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["drop"] for row in rows] == [0, 0.75, 0.85]
    monkeypatch.setattr(sys, "argv", arguments)
    exit0.main()
    assert re.findall(r"^ +(0\.\d\d) ", capsys.readouterr().out, re.MULTILINE) == ["0.00", "0.75", "0.85"]


def test_recall_is_printed_from_a_tenth_on_with_or_without_idf_among_the_candidates(model, lists, monkeypatch, capsys):
    monkeypatch.setattr(late_interaction, "AMONG_CANDIDATES", late_interaction.AMONG_CANDIDATES)  # restored afterwards
    exponents = []
    real = exit0_recall.recall

    def recall(stage, group, kept):
        exponents.append(late_interaction.AMONG_CANDIDATES)
        return real(stage, group, kept)

    monkeypatch.setattr(exit0_recall, "recall", recall)
    for switch in ([], ["--without-list-idf"]):
        monkeypatch.setattr(sys, "argv", ["exit0_recall", str(model), "--data", str(lists), *switch])
        exit0_recall.main()
    out = capsys.readouterr().out
    assert out.count("4 questions, kept 10%, 20%, 30%, 50%") == 2
    assert out.count(f"{model}: 100.0%  100.0%  100.0%  100.0%") == 2
    assert exponents == [0.25] * 4 + [0.0] * 4
