"""Which exits of a cascade an update trains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cascada.training.settings import TrainingSettings

Exits = tuple[int, ...]


def exit_plan(exits: Exits, settings: TrainingSettings, updates: int) -> Callable[[int], Exits]:
    """A function from the update's number (from 0) to the exits it trains.

    It depends on nothing but the seed, so that every process trains the same exits in the same update, and a run that
    was killed goes on with the exits it had come to.
    """

    def uniform(update: int) -> Exits:
        return (exits[_random(settings, update).integers(len(exits))],)

    def round_robin(update: int) -> Exits:
        return (exits[update % len(exits)],)

    def early(update: int) -> Exits:
        return (exits[_random(settings, update).choice(len(exits), p=early_bias(len(exits), faded(update)))],)

    def faded(update: int) -> float:
        return min(update / max(settings.exits.fade * updates, 1), 1.0)

    def every(update: int) -> Exits:
        return exits

    return {"uniform": uniform, "round-robin": round_robin, "early": early, "all": every}[settings.exits.sample]


def early_bias(exits: int, faded: float) -> np.ndarray:
    """How likely each exit is: at first as n, n-1, … 1; when the bias has faded (1), all the same."""
    biased = np.arange(exits, 0, -1) / (exits * (exits + 1) / 2)
    return (1 - faded) * biased + faded / exits


def _random(settings: TrainingSettings, update: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, update, 1])  # the 1: other numbers than those that shuffle the batches
