"""A picture of how fast variants of a study learn at one level (Figure 4 of the hierarchical ranking paper)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def draw_losses(wanted: Mapping[str, Sequence[str]], histories: Mapping[str, Sequence[Path]], path: Path) -> None:
    """For each level one panel with a line per variant: its training loss at that level, epoch by epoch."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4 * len(wanted)), layout="constrained")
    for panel, (level, variants) in enumerate(wanted.items(), 1):
        axes = figure.add_subplot(len(wanted), 1, panel, xlabel="epoch", ylabel=f"training loss, {level} level")
        for variant in variants:
            losses = mean_losses(histories[variant], level)
            axes.plot(np.arange(1, len(losses) + 1), losses, "o-", markersize=3, label=variant)
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def mean_losses(histories: Sequence[Path], level: str) -> NDArray[np.float64]:
    """(epochs,): the mean over the seeds, for as many epochs as all of them have."""
    runs = [losses_by_epoch(json.loads(path.read_text(encoding="utf-8"))["train"], level) for path in histories]
    shortest = min(len(run) for run in runs)
    return np.array([run[:shortest] for run in runs], np.float64).mean(0)  # type: ignore[no-any-return]


def losses_by_epoch(rows: Sequence[Mapping[str, float]], level: str) -> list[float]:
    """The mean of what was logged in each epoch; empty for a run without that level."""
    epochs: dict[int, list[float]] = {}
    for row in rows:
        if f"loss_{level}" in row:
            epochs.setdefault(ceil(row["epoch"]), []).append(row[f"loss_{level}"])
    return [float(np.mean(losses)) for _, losses in sorted(epochs.items())]
