"""The batches of a run: which pairs are trained on together in each epoch.

A run is one sequence of batches that depends on the seed alone, so that a resumed run continues with the batch it had
reached. Only the current epoch is kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from torch.utils.data import Sampler

from cascada.ranking.arrays import by_token_budget
from cascada.text.pair_arrays import Bools, Ints
from cascada.training.examples import Examples
from cascada.training.settings import TrainingSettings

CHUNK = 100
"""Pairs are sorted by length within about this many batches: little padding, and still a good shuffle."""


class BatchPlan(Sampler[list[int]]):
    """The batches, as lists of row numbers, that process `rank` of `world` trains on in all epochs."""

    def __init__(self, examples: Examples, settings: TrainingSettings, *, rank: int = 0, world: int = 1) -> None:
        self.examples = examples
        self.settings = settings
        self.rank = rank
        self.world = world

    def __iter__(self) -> Iterator[list[int]]:
        for epoch in range(self.settings.epochs):
            batches = self.epoch(epoch)
            for index in range(self.rank, len(batches), self.world):
                yield batches[index].tolist()

    def __len__(self) -> int:
        return sum(self.epoch_lengths)

    @cached_property
    def epoch_lengths(self) -> list[int]:
        """Batches per process in each epoch."""
        return [len(self.epoch(epoch)) // self.world for epoch in range(self.settings.epochs)]

    @property
    def used(self) -> Bools:
        """Whether each row is trained on in some epoch, (pairs,); with sampled negatives, not all rows are."""
        used = np.zeros(len(self.examples), bool)
        for epoch in range(self.settings.epochs):
            used[np.concatenate(self.epoch(epoch))] = True
        return used

    def epoch(self, epoch: int) -> list[Ints]:
        """The batches of one epoch for all processes; their number is a multiple of the number of processes."""
        random = np.random.default_rng([self.settings.seed, epoch])
        batches = list(self._cut(self._rows(random), random))
        order = random.permutation(len(batches))
        order = np.resize(order, -(-len(order) // self.world) * self.world)  # repeats a few, so that no process waits
        return [batches[index] for index in order]

    def _rows(self, random: np.random.Generator) -> Ints:
        """The rows of an epoch: all of them, or the positives and a new sample of each question's negatives."""
        count = self.settings.negatives
        if count is None:
            return np.arange(len(self.examples))
        negative = self.examples.labels == 0
        order = np.lexsort((random.random(len(self.examples)), self.examples.owner))
        order = order[negative[order]]  # the negatives by question, in random order within a question
        owner = self.examples.owner[order]
        place = np.arange(len(owner)) - np.searchsorted(owner, owner)  # position within its question
        return np.sort(np.concatenate((np.flatnonzero(~negative), order[place < count])))

    def _cut(self, rows: Ints, random: np.random.Generator) -> Iterator[Ints]:
        size = self.settings.batch.size
        if self.settings.batch.by == "questions":
            yield from self._questions(rows, random)
            return
        shuffled = random.permutation(rows)
        if self.settings.batch.by == "pairs":
            yield from (shuffled[start : start + size] for start in range(0, len(shuffled), size))
            return
        lengths = self.examples.encoded.lengths
        pairs = max(1, int(CHUNK * size / lengths.mean()))
        for start in range(0, len(shuffled), pairs):
            chunk = shuffled[start : start + pairs]
            yield from by_token_budget(lengths, chunk[np.argsort(lengths[chunk], kind="stable")], size)

    def _questions(self, rows: Ints, random: np.random.Generator) -> Iterator[Ints]:
        """Batches of whole questions."""
        owner = self.examples.owner[rows]
        questions = random.permutation(np.unique(owner))
        size = self.settings.batch.size
        for start in range(0, len(questions), size):
            yield rows[np.isin(owner, questions[start : start + size])]


def epoch_of(plan: BatchPlan, update: int) -> float:
    """The number of epochs, with a fraction, that are done after `update` updates."""
    batches = update * plan.settings.batch.accumulate
    for epoch, length in enumerate(plan.epoch_lengths):
        if batches <= length:
            return epoch + batches / length
        batches -= length
    return float(len(plan.epoch_lengths))
