"""The progress bar of a training run."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.training.batches import BatchPlan, epoch_of
from cascada.training.history import logged_measure
from cascada.training.run_folder import first_process

EVERY = 60.0
"""Seconds between two lines of a log, where there is no terminal to show a bar on."""
SHOWN = ("MAP", "MRR", "P@1", "F1", "EM")
"""The measures that are printed after each evaluation, as far as the model has them."""


class ProgressBar(TrainerCallback):  # type: ignore[misc]
    """On a terminal, a bar with loss, dev measure and time left; elsewhere, a line at the start and one a minute;
    everywhere, a line per evaluation. Every line is written at once: a log can be followed while training runs.

    Train within `with progress.bar:`, so that the terminal is restored when training fails.
    """

    def __init__(self, plan: BatchPlan, console: Console) -> None:
        self.plan = plan
        self.console = console
        self.loss: float | None = None
        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        left = (TextColumn("left"), TimeRemainingColumn(compact=True))
        self.logs = not console.is_terminal and first_process()
        self.logged = self.begun = monotonic()
        shown = console.is_terminal and first_process()
        self.bar = Progress(*columns, *left, console=console, speed_estimate_period=600, disable=not shown)

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        self.task = self.bar.add_task("training", total=state.max_steps, completed=state.global_step)
        if state.global_step and first_process():
            self.console.print(f"resuming after epoch {epoch_of(self.plan, state.global_step):.2f}", highlight=False)
        if self.logs:
            left = state.max_steps - state.global_step
            self.console.print(f"training: {left:,} updates to go", highlight=False, soft_wrap=True)
            self.logged = self.begun = monotonic()
            self.first = state.global_step

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        activity = "measuring dev" if control.should_evaluate else self._description(state)
        self.bar.update(self.task, completed=state.global_step, description=activity)
        if self.logs and monotonic() - self.logged >= EVERY:
            self.logged = monotonic()
            left = (self.logged - self.begun) / (state.global_step - self.first) * (state.max_steps - state.global_step)
            self.console.print(
                f"update {state.global_step:,} of {state.max_steps:,}   {self._description(state)}   "
                f"{timedelta(seconds=round(left))} left",
                highlight=False,
                soft_wrap=True,
            )

    def on_log(self, args: Any, state: TrainerState, control: TrainerControl, logs: dict[str, float], **_: Any) -> None:
        self.loss = logs.get("loss", self.loss)

    def on_evaluate(
        self, args: Any, state: TrainerState, control: TrainerControl, metrics: dict[str, float], **_: Any
    ) -> None:
        self.bar.update(self.task, description=self._description(state))
        early = [f"{key.removeprefix('eval_MAP@')}: {metrics[key]:.3f}" for key in metrics if "eval_MAP@" in key]
        names = [name for name in SHOWN if f"eval_{name}" in metrics]
        shown = "   ".join(f"{name} {metrics[f'eval_{name}']:.4f}" for name in names)
        if first_process():
            self.console.print(
                f"epoch {epoch_of(self.plan, state.global_step):5.2f}   loss {self.loss:.4f}   "
                f"dev {shown}   {timedelta(seconds=round(metrics['eval_seconds']))}"
                + (f"   MAP at early exits {' '.join(early)}" if early else ""),
                highlight=False,
                soft_wrap=True,
            )

    def _description(self, state: TrainerState) -> str:
        name, values = logged_measure(state.log_history)
        parts = [f"epoch {epoch_of(self.plan, state.global_step):.2f}"]
        parts += [f"loss {self.loss:.4f}"] if self.loss is not None else []
        parts += [f"best dev {name} {max(values):.4f}"] if values else []
        return "  ".join(parts)
