"""When a run evaluates, saves and stops."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState

from cascada.training.batches import BatchPlan


class Marks(TrainerCallback):  # type: ignore[misc]
    """Evaluates and saves at even steps through each epoch, and saves in between if asked to."""

    def __init__(self, plan: BatchPlan) -> None:
        self.settings = plan.settings
        self.evaluate_at = evaluation_updates(plan)

    def on_step_end(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        due = state.global_step in self.evaluate_at
        every = self.settings.checkpoint_every
        control.should_evaluate = due
        control.should_log |= due
        control.should_save = due or (every is not None and state.global_step % every == 0)

    def on_evaluate(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        control.should_training_stop |= self._out_of_patience(state)

    def on_train_begin(self, args: Any, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        control.should_training_stop |= self._out_of_patience(state)  # killed just after it had stopped

    def _out_of_patience(self, state: TrainerState) -> bool:
        values = [row["eval_MAP"] for row in state.log_history if "eval_MAP" in row]
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


def epoch_of(plan: BatchPlan, update: int) -> float:
    """How many epochs are done after so many updates."""
    batches = update * plan.settings.batch.accumulate
    for epoch, length in enumerate(plan.epoch_lengths):
        if batches <= length:
            return epoch + batches / length
        batches -= length
    return float(len(plan.epoch_lengths))
