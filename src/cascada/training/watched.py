"""The dev measure that chooses the best checkpoint: a ranker's is MAP, a reader's is F1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

WATCHED = ("MAP", "F1")


def watched(row: Mapping[str, Any]) -> str:
    """The name of the measure in a row of measures."""
    return next(name for name in WATCHED if name in row)


def best_of(dev: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The first of the best rows of a history."""
    return max(dev, key=lambda row: row[watched(row)])


def logged(log: Iterable[Mapping[str, Any]]) -> tuple[str, list[float]]:
    """The measure, and what it was so far by the trainer's log."""
    rows = [row for row in log if "eval_seconds" in row]
    found = [(name, row[f"eval_{name}"]) for row in rows for name in WATCHED if f"eval_{name}" in row]
    return found[0][0] if found else "", [value for _, value in found]
