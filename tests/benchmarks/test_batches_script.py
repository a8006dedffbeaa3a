"""benchmarks/batches.py, on a tiny encoder."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import batches  # noqa: E402

HEAD = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel"


def test_both_ways_of_batching_train(encoder_folder, tmp_path, words, monkeypatch, capsys):
    rows = [
        f"Q{number}\t{words[number]} ?\tD1\tT\tD1-{place}\t{' '.join(words[place : place + 5])}\t{int(place == 0)}"
        for number in range(30)
        for place in range(4)
    ]
    (tmp_path / "WikiQA-train.tsv").write_text("\n".join([HEAD, *rows]) + "\n")
    monkeypatch.setattr(
        sys, "argv", ["batches", str(encoder_folder), str(tmp_path), "--layers", "2", "--seconds", "0.1"]
    )
    batches.main()
    results = json.loads(capsys.readouterr().out)
    assert all(speed > 0 for speed in results["pairs per second"].values())
