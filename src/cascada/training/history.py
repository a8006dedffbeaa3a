"""What a run leaves to be looked at: `history.json` and a picture of the learning curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.data.atomic import written
from cascada.training.batches import BatchPlan
from cascada.training.marks import epoch_of


class History(TrainerCallback):  # type: ignore[misc]
    """Writes both files after every evaluation."""

    def __init__(self, plan: BatchPlan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if not state.is_world_process_zero:
            return
        history = history_of(state.log_history, self.plan)
        with written(self.folder / "history.json") as file:
            json.dump(history, file, indent=1)
        draw(history, self.folder / "curve.png")


def history_of(log: list[dict[str, Any]], plan: BatchPlan) -> dict[str, list[dict[str, float]]]:
    """The trainer's log as {"train": [{update, epoch, loss, learning_rate}], "dev": [{update, epoch, MAP, …}]}."""
    train, dev = [], []
    for row in log:
        place = {"update": row["step"], "epoch": round(epoch_of(plan, row["step"]), 4)}
        if "loss" in row:
            train.append({**place, "loss": row["loss"], "learning_rate": row["learning_rate"]})
        elif "eval_MAP" in row:
            dev.append({**place, **{key.removeprefix("eval_"): value for key, value in row.items() if "eval_" in key}})
    return {"train": train, "dev": dev}


def draw(history: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Training loss and dev MAP over the epochs."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    loss = figure.add_subplot(xlabel="epoch", ylabel="training loss")
    loss.plot([row["epoch"] for row in history["train"]], [row["loss"] for row in history["train"]], color="0.6")
    quality = loss.twinx()
    quality.set_ylabel("dev MAP", color="C0")
    quality.plot([row["epoch"] for row in history["dev"]], [row["MAP"] for row in history["dev"]], "o-", color="C0")
    best = max(history["dev"], key=lambda row: row["MAP"])
    quality.annotate(f"{best['MAP']:.4f}", (best["epoch"], best["MAP"]), xytext=(0, 6), textcoords="offset points")
    figure.savefig(path, dpi=120)
