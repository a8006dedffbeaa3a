"""Tables 1 and 2 of the hierarchical ranking paper, from the results of its studies.

    python benchmarks/hierarchical_tables.py runs/hierarchical-wikiqa runs/hierarchical-trecqa

Each cell is the mean over the seeds ± its standard deviation, with the paper's number in brackets. † and ‡ mark a MAP
that differs from CA(list)'s with p < 0.1 and p < 0.05, by a t-test over the questions.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MEASURES = ("MAP", "MRR")

PAPER: dict[str, tuple[float, float, float, float]] = {  # WikiQA's MAP and MRR, TREC-QA's MAP and MRR
    "CA(point)": (0.721, 0.735, 0.809, 0.867),
    "CA(pair)": (0.725, 0.737, 0.832, 0.889),
    "CA(list)": (0.736, 0.749, 0.809, 0.863),
    "MTL(point)": (0.734, 0.747, 0.831, 0.885),
    "MTL(pair)": (0.734, 0.745, 0.837, 0.895),
    "MTL(list)": (0.739, 0.751, 0.835, 0.892),
    "RI(point)": (0.734, 0.747, 0.823, 0.880),
    "RI(pair)": (0.737, 0.749, 0.842, 0.904),
    "RI(list)": (0.740, 0.751, 0.835, 0.892),
    "PRI(point)": (0.732, 0.743, 0.825, 0.890),
    "PRI(list)": (0.742, 0.754, 0.841, 0.898),
    "PRI(list) without point": (0.735, 0.746, 0.829, 0.883),
    "PRI(list) without pair": (0.739, 0.752, 0.833, 0.881),
    "PRI(all list)": (0.726, 0.737, 0.814, 0.859),
}
MODELS = tuple(PAPER)[:11]
ABLATIONS = ("PRI(list)", "PRI(list) without point", "PRI(list) without pair", "PRI(all list)")
TESTS = ("wikiqa", "trecqa")

Rows = Mapping[tuple[str, str], Mapping[str, Any]]
"""(variant, test set) → the study's results."""


def read_results(folders: Sequence[Path]) -> Rows:
    results = [row for folder in folders for row in json.loads((folder / "results.json").read_text())["rows"]]
    return {(row["variant"], row["test"]): row for row in results}


def table(rows: Rows, models: Sequence[str]) -> str:
    tests = [test for test in TESTS if any(key[1] == test for key in rows)]
    lines = ["| model | " + " | ".join(f"{test} {name}" for test in tests for name in MEASURES) + " |"]
    lines.append("|---" * (1 + len(tests) * len(MEASURES)) + "|")
    for model in models:
        cells = [cell(rows.get((model, test)), model, test, name) for test in tests for name in MEASURES]
        lines.append(f"| {model} | {' | '.join(cells)} |")
    return "\n".join(lines)


def cell(row: Mapping[str, Any] | None, model: str, test: str, measure: str) -> str:
    if row is None:
        return "–"
    spread = "" if row[measure]["std"] is None else f" ± {row[measure]['std']:.3f}"
    p = (row.get("against") or {}).get("t_p")
    significance = "" if p is None or measure != "MAP" else "‡" if p < 0.05 else "†" if p < 0.1 else ""
    published = PAPER[model][2 * TESTS.index(test) + MEASURES.index(measure)]
    return f"{row[measure]['mean']:.3f}{significance}{spread} ({published:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", nargs="+", type=Path, help="a study's folder")
    rows = read_results(parser.parse_args().study)
    print(f"{table(rows, MODELS)}\n\n{table(rows, ABLATIONS)}")


if __name__ == "__main__":
    main()
