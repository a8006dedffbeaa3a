"""Which range of a layer's inputs should 8 bits hold? An int8 export with each, against the trained ranker.

    python benchmarks/ranges.py MODEL trecqa --root TRECQA [--split dev] [--questions 14] [--candidates 25]

`as it comes` takes the range of what is computed together; the others are seen on the sample that comes with Cascada,
less the share that lies furthest out on either side. Told is how each exit's scores correlate with the trained ones.
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


def scores(ranker: Ranker, asked: list[tuple[str, list[str]]]) -> np.ndarray:
    """(candidates, exits)"""
    rankings = [ranker.rank(question, texts, drop=0) for question, texts in asked]
    return np.array([item.scores for one in rankings for item in sorted(one, key=lambda item: item.index)])


def exported(model: Path, asked: list[tuple[str, list[str]]], share: float | None) -> np.ndarray:
    nothing = patch.object(cascade_export, "record_ranges", lambda model, run: None)
    with tempfile.TemporaryDirectory() as out, nothing if share is None else patch.object(ranges, "SHARE", share):
        export(model, Path(out) / "int8")
        return scores(Ranker.load(Path(out) / "int8"), asked)


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
    groups = load(options.data, root=options.root, split=options.split, mode="clean", first=options.questions)
    asked = [(group.question, list(group.texts[: options.candidates])) for group in groups]
    trained = Ranker.load(options.model)
    wanted = scores(trained, asked)
    found = {}
    for share in (None, *SHARES):
        got = exported(options.model, asked, share)
        name = "as it comes" if share is None else f"{share:.3%}"
        found[name] = [float(np.corrcoef(ours, theirs)[0, 1]) for ours, theirs in zip(got.T, wanted.T, strict=True)]
        if not options.json:
            print(f"{name:>12}  " + "  ".join(f"{one:.4f}" for one in found[name]), flush=True)
    if options.json:
        print(json.dumps({"exits": trained.exits, "pairs": len(wanted), "correlation": found}))


if __name__ == "__main__":
    main()
