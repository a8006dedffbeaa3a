"""Measured results in a small form that outlives the models: for each row, test set and seed the means and each
question's MAP, so that any two rows can be compared later. A study writes `measured.json`; `cascada reproduce --keep`
collects such files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from cascada.metrics import Evaluation

MEASURED_FILE = "measured.json"
SCALE = 10_000
"""Each question's MAP is kept as a whole number of this many parts."""

Result = dict[str, Any]
"""{row, test, seed, questions, digest, values: {MAP: …}, by_question: [whole numbers]}"""


def result_of(row: str, test: str, seed: int, evaluation: Evaluation, cost: float | None = None) -> Result:
    """The record of one row with one seed. `digest` says which questions `by_question` is about, sorted by id."""
    by_question = evaluation.by_question["MAP"]
    names = sorted(by_question)
    values = {name: round(value, 6) for name, value in evaluation.mean.items()}
    return {
        "row": row,
        "test": test,
        "seed": seed,
        "questions": len(names),
        "digest": hashlib.sha256("\n".join(names).encode()).hexdigest()[:12],
        "values": values if cost is None else {**values, "cost": round(cost, 6)},
        "by_question": [round(SCALE * by_question[name]) for name in names],
    }


def evaluation_of(results: Sequence[Mapping[str, Any]]) -> Evaluation:
    """Each question's MAP, averaged over the seeds."""
    means = [sum(parts) / len(parts) / SCALE for parts in zip(*(own["by_question"] for own in results), strict=True)]
    return Evaluation({"MAP": {str(place): value for place, value in enumerate(means)}})


def write_results(file: IO[str], head: Mapping[str, Any], results: Iterable[Result]) -> None:
    """Write JSON with one result per line."""
    lines = ",\n  ".join(json.dumps(result, ensure_ascii=False, separators=(",", ":")) for result in results)
    file.write(f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "results": [\n  {lines}\n ]\n}}\n')
