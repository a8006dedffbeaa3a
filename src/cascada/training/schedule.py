"""The learning rate over a run, as a share of its peak."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.training.batches import BatchPlan
from cascada.training.history import logged
from cascada.training.settings import TrainingSettings


def learning_rate(settings: TrainingSettings, updates: int) -> Callable[[int], float]:
    """A function from the update's number (from 0) to a share of the peak in [0, 1].

    `linear` ramps up and falls to 0 at the end of the run. `triangular` ramps up, falls in as many updates, and so on
    (Smith, 2017). `constant` ramps up and stays.
    """
    ramp = settings.warmup if settings.warmup >= 1 else settings.warmup * updates

    def linear(update: int) -> float:
        return min((update + 1) / max(ramp, 1), (updates - update) / max(updates - ramp, 1), 1.0)

    def triangular(update: int) -> float:
        return 1 - abs((update + 1) / max(ramp, 1) % 2 - 1)

    def constant(update: int) -> float:
        return min((update + 1) / max(ramp, 1), 1.0)

    return {"linear": linear, "triangular": triangular, "constant": constant}[settings.schedule]


class Marks(TrainerCallback):  # type: ignore[misc]
    """Evaluates and saves at even steps through each epoch, and saves in between if asked to."""

    def __init__(self, plan: BatchPlan) -> None:
        self.settings = plan.settings
        self.evaluate_at = evaluation_updates(plan)
        self.over = False

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        best = Path(args.output_dir) / f"checkpoint-{state.best_global_step}"
        if best.is_dir():
            state.best_model_checkpoint = str(best)  # where it is now: the folder may have been moved since
        self.over = self._out_of_patience(state)  # killed just after it had stopped
        control.should_training_stop |= self.over

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self.over:  # the trainer makes one update before it sees that it should stop: of no consequence
            control.should_log = control.should_evaluate = control.should_save = False
            return
        due = state.global_step in self.evaluate_at
        every = self.settings.checkpoint_every
        control.should_evaluate = due
        control.should_save = due or (every is not None and state.global_step % every == 0)
        control.should_log |= control.should_save  # a resumed run then logs the same rows

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        control.should_training_stop |= self._out_of_patience(state)

    def _out_of_patience(self, state: TrainerState) -> bool:
        _, values = logged(state.log_history)
        if self.settings.patience is None or not values:
            return False
        return len(values) - 1 - values.index(max(values)) >= self.settings.patience


def evaluation_updates(plan: BatchPlan) -> set[int]:
    """The updates after which the dev set is measured; the last one is always among them."""
    per_epoch, accumulate = plan.settings.evaluations_per_epoch, plan.settings.batch.accumulate
    marks, start = set(), 0
    for length in plan.epoch_lengths:
        for part in range(1, per_epoch + 1):
            marks.add(-(-(start + round(length * part / per_epoch)) // accumulate))
        start += length
    return marks - {0}
