"""What happens when in a run: the learning rate of each update, and when to evaluate, to save and to stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.training.batches import BatchPlan
from cascada.training.history import logged_measure
from cascada.training.settings import TrainingSettings


def learning_rate(settings: TrainingSettings, updates: int) -> Callable[[int], float]:
    """A function from the update's number (from 0) to the learning rate, as a share of its peak in [0, 1].

    All schedules rise during the warm-up. Then `linear` falls to 0 at the end of the run, `triangular` falls in as many
    updates as it rose and starts again (Smith, 2017), and `constant` stays at the peak.
    """
    warmup = settings.warmup if settings.warmup >= 1 else settings.warmup * updates

    def linear(update: int) -> float:
        return min((update + 1) / max(warmup, 1), (updates - update) / max(updates - warmup, 1), 1.0)

    def triangular(update: int) -> float:
        return 1 - abs((update + 1) / max(warmup, 1) % 2 - 1)

    def constant(update: int) -> float:
        return min((update + 1) / max(warmup, 1), 1.0)

    return {"linear": linear, "triangular": triangular, "constant": constant}[settings.schedule]


class EvaluationSchedule(TrainerCallback):  # type: ignore[misc]
    """Evaluates and saves at even intervals in each epoch, saves in between if asked to, and stops a run early."""

    def __init__(self, plan: BatchPlan) -> None:
        self.settings = plan.settings
        self.evaluate_at = evaluation_updates(plan)
        self.stopped = False

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        best = Path(args.output_dir) / f"checkpoint-{state.best_global_step}"
        if best.is_dir():
            state.best_model_checkpoint = str(best)  # the folder may have been moved
        self.stopped = self._out_of_patience(state)  # it was killed just after it had stopped early
        control.should_training_stop |= self.stopped

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if self.stopped:  # the trainer makes one more update before it stops; it is neither measured nor saved
            control.should_log = control.should_evaluate = control.should_save = False
            return
        due = state.global_step in self.evaluate_at
        every = self.settings.checkpoint_every
        control.should_evaluate = due
        control.should_save = due or (every is not None and state.global_step % every == 0)
        control.should_log |= control.should_save  # so that a resumed run logs the same rows

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        control.should_training_stop |= self._out_of_patience(state)

    def _out_of_patience(self, state: TrainerState) -> bool:
        _, values = logged_measure(state.log_history)
        if self.settings.patience is None or not values:
            return False
        return len(values) - 1 - values.index(max(values)) >= self.settings.patience


def evaluation_updates(plan: BatchPlan) -> set[int]:
    """The updates after which the dev set is measured; the last update is always one of them."""
    per_epoch, accumulate = plan.settings.evaluations_per_epoch, plan.settings.batch.accumulate
    evaluated, start = set(), 0
    for length in plan.epoch_lengths:
        for part in range(1, per_epoch + 1):
            evaluated.add(-(-(start + round(length * part / per_epoch)) // accumulate))
        start += length
    return evaluated - {0}
