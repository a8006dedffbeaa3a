"""The history of a run: losses and dev measures, as `history.json` and `curve.png`.

One dev measure selects the best checkpoint: MAP of a ranker, F1 of a reader, and, of a cross-encoder that is fine-tuned
for its exits, its agreement with the original model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.core.files import atomic_write, atomic_write_bytes
from cascada.training.batches import BatchPlan, epoch_of
from cascada.training.run_folder import first_process

HISTORY_FILE = "history.json"
SELECTION_MEASURES = ("MAP", "F1", "agreement")

History = dict[str, list[dict[str, float]]]
"""{"train": [{update, epoch, loss, learning_rate, …}], "dev": [{update, epoch, MAP, …}]}"""


def selection_measure(row: Mapping[str, Any]) -> str:
    """The name of the measure that selects the best checkpoint, given a row of dev measures."""
    return next(name for name in SELECTION_MEASURES if name in row)


def best_row(dev: Sequence[Mapping[str, float]]) -> Mapping[str, float]:
    """The best row of dev measures; of several, the first."""
    return max(dev, key=lambda row: row[selection_measure(row)])


def logged_measure(log: Iterable[Mapping[str, Any]]) -> tuple[str, list[float]]:
    """The name of the measure that selects, and its values in the trainer's log so far."""
    rows = [row for row in log if "eval_seconds" in row]
    logged = [(name, row[f"eval_{name}"]) for row in rows for name in SELECTION_MEASURES if f"eval_{name}" in row]
    return logged[0][0] if logged else "", [value for _, value in logged]


class HistoryWriter(TrainerCallback):  # type: ignore[misc]
    """Writes both files after every evaluation."""

    def __init__(self, plan: BatchPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if not first_process():
            return
        history = history_of(state.log_history, self.plan)
        with atomic_write(self.folder / HISTORY_FILE) as file:
            json.dump(history, file, indent=1)
        draw(history, self.folder / "curve.png")


def history_of(log: list[dict[str, Any]], plan: BatchPlan) -> History:
    """The trainer's log as a history."""
    train, dev = [], []
    for row in log:
        place = {"update": row["step"], "epoch": round(epoch_of(plan, row["step"]), 4)}
        if "loss" in row:
            parts = {key: value for key, value in row.items() if key.startswith("loss_")}
            train.append({**place, "loss": row["loss"], **parts, "learning_rate": row["learning_rate"]})
        elif "eval_seconds" in row:
            dev.append({**place, **{key.removeprefix("eval_"): value for key, value in row.items() if "eval_" in key}})
    return {"train": train, "dev": dev}


def draw(history: History, path: Path) -> None:
    """Plot training loss and dev measure over the epochs; a circle marks the best value."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    train, dev = history["train"], history["dev"]
    best = best_row(dev)
    name = selection_measure(best)
    figure = Figure(figsize=(7, 4), layout="constrained")
    loss = figure.add_subplot(xlabel="epoch")
    loss.set_ylabel("training loss", color="0.45")
    loss.plot([row["epoch"] for row in train], [row["loss"] for row in train], color="0.65")
    loss.set_ylim(bottom=0)
    loss.set_xlim(left=0)
    loss.xaxis.set_major_locator(MaxNLocator(integer=True))
    quality = loss.twinx()
    quality.set_ylabel(f"dev {name}", color="C0")
    quality.plot([row["epoch"] for row in dev], [row[name] for row in dev], "o-", color="C0", clip_on=False)
    lowest, margin = min(row[name] for row in dev), 0.05
    quality.set_ylim(max(lowest - margin, 0), min(best[name] + margin, 1))
    quality.set_title(f"best dev {name} {best[name]:.4f} after epoch {best['epoch']:.3g}", fontsize="medium")
    quality.plot(best["epoch"], best[name], "o", color="C0", markersize=11, fillstyle="none", clip_on=False)
    with atomic_write_bytes(path) as file:
        figure.savefig(file, dpi=120, format="png")
