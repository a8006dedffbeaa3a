"""Groups as training material: token ids, labels, and which question each pair belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from cascada.data import Group
from cascada.errors import CascadaError
from cascada.ranking.stage import Floats
from cascada.text.pairs import EncodedPairs, Ints
from cascada.text.word_pairs import sides


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
