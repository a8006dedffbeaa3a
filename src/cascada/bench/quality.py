"""Ranking quality of the engines on a data set, beside their speed.

Cascada's rows are measured by running them. So are the peers', if their folder has the ranker's own head (see
`peer_folder.py`). If the hub's layout has no such head, they run the same layers under a head with random weights;
then their rows have the figure of Cascada's fp32 engine without drops, and say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from cascada.bench.measure import Row
from cascada.core.errors import CascadaError
from cascada.data import Group, Qrels
from cascada.metrics import evaluate

FULL = ("cascada fp32 α=0", "cascada torch α=0", "cascada int8 α=0")
"""The engines whose figure is shown for peers without the ranker's head: that of the first that was measured."""


@dataclass(frozen=True)
class Quality:
    """The data set that quality is measured on."""

    name: str
    groups: Sequence[Group]
    """Questions and candidates must have ids."""
    qrels: Qrels
    measure: str
    relevant: int = 1
    """The relevance from which a candidate counts as correct in binary measures."""

    def texts(self) -> list[tuple[str, list[str]]]:
        """Questions with their candidates, as the engines get them."""
        return [(group.question, list(group.texts)) for group in self.groups]

    def check_candidates(self, counts: Sequence[int]) -> None:
        """Reject a number of candidates that a list cannot be filled up to: every text comes once."""
        distinct = len({text for group in self.groups for text in group.texts})
        largest = max(counts, default=0)
        if largest > distinct and any(len(group.candidates) < largest for group in self.groups):
            raise CascadaError(
                f"--candidates {largest}: the {len(self.groups)} questions of {self.name} have only {distinct:,} "
                "distinct texts to fill a list up with; ask for fewer candidates, or take more --questions."
            )

    def to_dict(self) -> dict[str, Any]:
        """What the results say about the data."""
        candidates = fmean(len(group.candidates) for group in self.groups)
        about = {"data": self.name, "measure": self.measure}
        return about | {"questions": len(self.groups), "candidates_mean": round(candidates, 1)}

    def measured(
        self, rows: Sequence[Row], *, own_head: bool, on_progress: Callable[[str], None] = lambda line: None
    ) -> None:
        """Set the `quality` of every row. `own_head`: whether the peers have the ranker's own head."""
        for row in rows:
            if row.problem is None and (own_head or not row.engine.peer):
                row.quality = self._of(row)
                on_progress(f"{row.engine.name}: {self._summary(row)}")
        by_name = {row.engine.name: row.quality for row in rows}
        full = next((name for name in FULL if by_name.get(name)), None)
        for row in rows:
            if full and row.problem is None and row.engine.peer and not own_head:
                row.quality = {self.measure: by_name[full][self.measure], "of": full}  # type: ignore[index]

    def _of(self, row: Row) -> dict[str, Any] | None:
        """The measure, and mean and 95th percentile of the relative cost; None if the engine fails."""
        run, answers = {}, []
        for place, group in enumerate(self.groups):
            answer = row.answer(place)
            if answer is None:
                return None
            ids = [str(candidate.id) for candidate in group.candidates]
            run[str(group.id)] = dict(zip(ids, answer["scores"], strict=True))
            answers.append(answer)
        judged = {question: self.qrels[question] for question in run if question in self.qrels}
        evaluation = evaluate(run, judged, (self.measure,), relevant=self.relevant)
        figures: dict[str, Any] = {self.measure: evaluation.mean[self.measure]}
        if all("relative_cost" in answer for answer in answers):
            costs = [answer["relative_cost"] for answer in answers]
            figures |= {"relative_cost": fmean(costs), "relative_cost_p95": float(np.percentile(costs, 95))}
        return figures

    def _summary(self, row: Row) -> str:
        return f"{self.measure} {row.quality[self.measure]:.4f}" if row.quality else str(row.problem)
