"""What a person sees while a run trains."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.training.batches import BatchPlan
from cascada.training.marks import epoch_of


class ProgressBar(TrainerCallback):  # type: ignore[misc]
    """A bar with loss, dev MAP and time left, on a terminal; a line per evaluation everywhere."""

    def __init__(self, plan: BatchPlan, console: Console) -> None:
        self.plan = plan
        self.console = console
        self.loss = self.best = float("nan")
        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        self.bar = Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.is_world_process_zero:
            self.task = self.bar.add_task("training", total=state.max_steps, completed=state.global_step)
            self.bar.start()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.bar.stop()

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if state.is_world_process_zero:
            self.bar.update(self.task, completed=state.global_step, description=self._description(state))

    def on_log(self, args: Any, state: TrainerState, control: TrainerControl, logs: dict[str, float], **_: Any) -> None:
        self.loss = logs.get("loss", self.loss)

    def on_evaluate(
        self, args: Any, state: TrainerState, control: TrainerControl, metrics: dict[str, float], **_: Any
    ) -> None:
        self.best = metrics["eval_MAP"] if not self.best > metrics["eval_MAP"] else self.best
        if state.is_world_process_zero:
            self.console.print(
                f"epoch {epoch_of(self.plan, state.global_step):5.2f}   loss {self.loss:.4f}   "
                f"dev MAP {metrics['eval_MAP']:.4f}   MRR {metrics['eval_MRR']:.4f}   "
                f"P@1 {metrics['eval_P@1']:.4f}   {metrics['eval_seconds'] / 60:.1f} min",
                highlight=False,
            )

    def _description(self, state: TrainerState) -> str:
        best = "" if self.best != self.best else f"  dev MAP {self.best:.4f}"
        return f"epoch {epoch_of(self.plan, state.global_step):.2f}  loss {self.loss:.4f}{best}"
