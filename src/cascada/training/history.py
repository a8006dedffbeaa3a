"""The dev measure that chooses the best checkpoint: a ranker's is MAP, a reader's is F1."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.core.files import atomic_write, atomic_write_bytes
from cascada.training.batches import BatchPlan, epoch_of
from cascada.training.run_folder import first_process

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


class History(TrainerCallback):  # type: ignore[misc]
    """Writes both files after every evaluation."""

    def __init__(self, plan: BatchPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if not first_process():
            return
        history = history_of(state.log_history, self.plan)
        with atomic_write(self.folder / "history.json") as file:
            json.dump(history, file, indent=1)
        draw(history, self.folder / "curve.png")


def history_of(log: list[dict[str, Any]], plan: BatchPlan) -> dict[str, list[dict[str, float]]]:
    """The trainer's log as {"train": [{update, epoch, loss, learning_rate, …}], "dev": [{update, epoch, MAP, …}]}."""
    train, dev = [], []
    for row in log:
        place = {"update": row["step"], "epoch": round(epoch_of(plan, row["step"]), 4)}
        if "loss" in row:
            parts = {key: value for key, value in row.items() if key.startswith("loss_")}
            train.append({**place, "loss": row["loss"], **parts, "learning_rate": row["learning_rate"]})
        elif "eval_seconds" in row:
            dev.append({**place, **{key.removeprefix("eval_"): value for key, value in row.items() if "eval_" in key}})
    return {"train": train, "dev": dev}


def draw(history: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Training loss and the dev measure over the epochs, the best one marked."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    train, dev = history["train"], history["dev"]
    best = best_of(dev)
    name = watched(best)
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
    lowest, room = min(row[name] for row in dev), 0.05
    quality.set_ylim(max(lowest - room, 0), min(best[name] + room, 1))
    quality.set_title(f"best dev {name} {best[name]:.4f} after epoch {best['epoch']:.3g}", fontsize="medium")
    quality.plot(best["epoch"], best[name], "o", color="C0", markersize=11, fillstyle="none", clip_on=False)
    with atomic_write_bytes(path) as file:
        figure.savefig(file, dpi=120, format="png")
