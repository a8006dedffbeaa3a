"""The groups that a recipe names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol, Self

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from cascada.core.errors import CascadaError
from cascada.data import Group, flip_labels, load, read
from cascada.ranking.stage import Floats
from cascada.text.pairs import EncodedPairs, Ints
from cascada.text.vocabulary import sides
from cascada.training.settings import DataSettings


def training_groups(settings: DataSettings) -> list[Group]:
    """What is learned from: questions that have candidates, with noise and other data as the settings say."""
    groups: Iterable[Group] = read(settings.source, root=settings.root, split=settings.split, mode=settings.mode)
    groups = islice(groups, settings.questions)
    if settings.grades is not None:
        groups = _of_grades(groups, settings.grades)
    found = [group for group in groups if group.candidates]
    if not found:
        raise CascadaError(f"train: {settings.source} has no questions in mode {settings.mode}.")
    if settings.noise:
        found = list(flip_labels(found, settings.noise, seed=settings.noise_seed))
    return found + [group for other in settings.also for group in training_groups(other)]


def measured_groups(settings: DataSettings, which: str) -> list[Group]:
    """What is measured, as it is, with ids; `which` names it in a mistake."""
    if settings.grades is not None or settings.noise or settings.also:
        raise CascadaError(f"{which}: grades, noise and also are for training data; a set is measured as it is.")
    groups = loaded_groups(settings)
    if not any(any(group.labels) for group in groups):
        raise CascadaError(f"{which}: {settings.source} has no correct candidate: there is no MAP to watch.")
    return [group for group in groups if group.candidates]


def loaded_groups(settings: DataSettings) -> list[Group]:
    """What the settings name, with ids."""
    return load(settings.source, root=settings.root, split=settings.split, mode=settings.mode, first=settings.questions)


def _of_grades(groups: Iterable[Group], grades: tuple[int, ...]) -> Iterator[Group]:
    """Correct candidates, and the wrong ones of some grades."""
    for group in groups:
        kept = tuple(one for one in group.candidates if one.label or one.grade in grades)
        yield replace(group, candidates=kept)


class Encoder(Protocol):
    """What turns texts into ids: a `PairTokenizer`, or `WordPairs`."""

    pad_id: int

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs: ...


@dataclass(frozen=True)
class Examples(Dataset[int]):
    """All pairs of a data set; an example is its row number, and `collate` turns rows into a batch."""

    encoded: EncodedPairs
    labels: Ints  # (pairs,)
    owner: Ints  # (pairs,): the question's number
    pad_id: int
    taught: Floats | None = None  # (pairs,): a teacher's raw scores

    @classmethod
    def of(cls, groups: Sequence[Group], tokenizer: Encoder) -> Self:
        labels = np.array([label for group in groups for label in group.labels], dtype=np.int64)
        if not labels.any() or labels.all():
            which = "correct" if not labels.any() else "wrong"
            raise CascadaError(f"The training data has no {which} candidate: there is nothing to learn from it.")
        owner = np.repeat(np.arange(len(groups)), [len(group.candidates) for group in groups])
        texts = [text for group in groups for text in group.texts]
        encoded = tokenizer.encode([group.question for group in groups], texts, owner)
        return cls(encoded, labels, owner, tokenizer.pad_id)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: int) -> int:
        return row

    def collate(self, rows: list[int]) -> dict[str, Tensor]:
        """The batch's arrays; `owner` counts its questions from 0."""
        _, owner = np.unique(self.owner[rows], return_inverse=True)
        arrays = {**self.inputs(rows), "labels": self.labels[rows], "owner": owner}
        if self.taught is not None:
            arrays["taught"] = self.taught[rows]
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        """What the model reads, by its arguments."""
        return dict(zip(("ids", "mask", "types"), self.encoded.padded(rows, self.pad_id), strict=True))

    @property
    def balance(self) -> float:
        """Wrong pairs for each correct one."""
        correct = int(self.labels.sum())
        return (len(self) - correct) / correct


class WordExamples(Examples):
    """Pairs as word ids, question and sentence apart."""

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        return dict(zip(("question", "text"), sides(self.encoded, rows), strict=True))
