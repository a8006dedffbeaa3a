"""benchmarks/accelerated.py, on a tiny cross-encoder."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import accelerated  # noqa: E402

from cascada.ranking.plan_file import write_plan  # noqa: E402
from cascada.systems.cross_encoder.folder import load, save, with_added_exits  # noqa: E402
from cascada.systems.cross_encoder.shape import ExitHead  # noqa: E402


def test_before_and_after_are_measured_on_lists_that_are_filled_up(
    cross_encoder_folder, tmp_path, words, monkeypatch, capsys
):
    network = with_added_exits(load(cross_encoder_folder), (0, 2, 4), ExitHead("both"))
    save(network, tmp_path / "out", tokenizer=cross_encoder_folder, card="# With exits\n")
    write_plan(tmp_path / "out", (12, 6), (0, 2, 4), {})
    rows = [
        {
            "question": " ".join(words[start : start + 3]),
            "candidates": [
                {"text": " ".join(words[start + i : start + i + 4]), "label": int(i == 0)} for i in range(4)
            ],
        }
        for start in range(0, 60, 3)
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    folders = [str(folder) for folder in (cross_encoder_folder, tmp_path / "out", tmp_path / "test.jsonl")]
    monkeypatch.setattr(sys, "argv", ["accelerated", "measure", *folders, "--candidates", "6", "--json"])
    accelerated.main()
    (result,) = json.loads(capsys.readouterr().out).values()
    before, cascade, *_ = result["rows"]
    assert len(result["rows"]) == 4
    assert result["questions"] == 20
    assert 4 < result["candidates"] <= 6
    assert before["same first"] == before["cost"] == before["faster"] == 1
    assert cascade["same first"] == 1, "its plan keeps all of so few candidates"


def test_questions_and_sentences_are_written_without_labels(tmp_path, monkeypatch):
    question = {"id": "1", "question": "Who was\nhere?", "answers": [{"text": "Kilroy", "answer_start": 0}]}
    article = {"title": "T", "paragraphs": [{"context": "Kilroy was here. He left.", "qas": [question]}]}
    (tmp_path / "squad.json").write_text(json.dumps({"data": [article]}))
    monkeypatch.setattr(sys, "argv", ["accelerated", "lists", str(tmp_path / "squad.json"), str(tmp_path / "lists")])
    accelerated.main()
    assert (tmp_path / "lists" / "questions.txt").read_text() == "Who was here?\n"
    assert (tmp_path / "lists" / "sentences.txt").read_text() == "Kilroy was here.\nHe left.\n"
