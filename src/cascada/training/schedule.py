"""The learning rate over a run, as a share of its peak."""

from __future__ import annotations

from collections.abc import Callable

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
