"""What a run leaves to be looked at: `history.json` and a picture of the learning curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.data.atomic import written
from cascada.training.batches import BatchPlan
from cascada.training.claim import first_process
from cascada.training.marks import epoch_of
from cascada.training.watched import best_of, watched


class History(TrainerCallback):  # type: ignore[misc]
    """Writes both files after every evaluation."""

    def __init__(self, plan: BatchPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if not first_process():
            return
        history = history_of(state.log_history, self.plan)
        with written(self.folder / "history.json") as file:
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
    unfinished = path.with_name(f".{path.name}.part")
    figure.savefig(unfinished, dpi=120, format="png")
    unfinished.replace(path)
