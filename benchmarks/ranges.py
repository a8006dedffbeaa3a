"""Compare quantisation ranges for the inputs of layers: int8 exports with each, against the trained ranker.

    python benchmarks/ranges.py MODEL trecqa --root TRECQA [--split dev] [--questions 14] [--candidates 25]

`as it comes` quantises dynamically, with the range of each batch. The others use ranges recorded on the sample that
comes with Cascada, without the most extreme values on either side. The output is the correlation of each exit's scores
with those of the trained ranker.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np

from cascada import Ranker
from cascada.data import load
from cascada.graphs import ranges
from cascada.systems.cascade import export as cascade_export
from cascada.systems.export import export

SHARES = (1.0, 0.99999, 0.99995, 0.9999, 0.9998, 0.9995, 0.999)


def scores(ranker: Ranker, groups: list[tuple[str, list[str]]]) -> np.ndarray:
    """(candidates, exits)"""
    rankings = [ranker.rank(question, texts, drop=0) for question, texts in groups]
    return np.array([item.scores for ranking in rankings for item in sorted(ranking, key=lambda item: item.index)])


def exported_scores(model: Path, groups: list[tuple[str, list[str]]], share: float | None) -> np.ndarray:
    dynamic = patch.object(cascade_export, "record_ranges", lambda model, run: None)
    with tempfile.TemporaryDirectory() as out, dynamic if share is None else patch.object(ranges, "SHARE", share):
        export(model, Path(out) / "int8")
        return scores(Ranker.load(Path(out) / "int8"), groups)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("data")
    parser.add_argument("--root")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--questions", type=int, default=14)
    parser.add_argument("--candidates", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    questions = load(options.data, root=options.root, split=options.split, mode="clean", questions=options.questions)
    groups = [(group.question, list(group.texts[: options.candidates])) for group in questions]
    trained = Ranker.load(options.model)
    expected = scores(trained, groups)
    correlations = {}
    for share in (None, *SHARES):
        quantised = exported_scores(options.model, groups, share)
        name = "as it comes" if share is None else f"{share:.3%}"
        pairs = zip(quantised.T, expected.T, strict=True)  # one for each exit
        correlations[name] = [
            float(np.corrcoef(exit_scores, trained_scores)[0, 1]) for exit_scores, trained_scores in pairs
        ]
        if not options.json:
            print(f"{name:>12}  " + "  ".join(f"{value:.4f}" for value in correlations[name]), flush=True)
    if options.json:
        print(json.dumps({"exits": trained.exits, "pairs": len(expected), "correlation": correlations}))


if __name__ == "__main__":
    main()
