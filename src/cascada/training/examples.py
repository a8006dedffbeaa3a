"""Training examples: pairs of question and candidate, put into batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from cascada.core.errors import CascadaError
from cascada.data import Group
from cascada.ranking.stage import Floats
from cascada.text.pair_arrays import EncodedPairs, Ints


class PairEncoder(Protocol):
    """Turns pairs of texts into ids: a `PairTokenizer`, a `SideTokenizer` or `WordPairTokenizer`."""

    pad_id: int

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs: ...


@dataclass(frozen=True)
class Examples(Dataset[int]):
    """All pairs of a data set. An example is a row number; `collate` turns row numbers into a batch."""

    encoded: EncodedPairs
    labels: Ints  # (pairs,)
    owner: Ints  # (pairs,): the number of the question
    pad_id: int
    teacher_scores: Floats | None = None  # (pairs,): raw scores

    @classmethod
    def of(cls, groups: Sequence[Group], tokenizer: PairEncoder) -> Self:
        labels = np.array([label for group in groups for label in group.labels], dtype=np.int64)
        if not labels.any() or labels.all():
            which = "correct" if not labels.any() else "incorrect"
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
        """The tensors of a batch; `owner` numbers its questions from 0."""
        _, owner = np.unique(self.owner[rows], return_inverse=True)
        arrays = {**self.inputs(rows), "labels": self.labels[rows], "owner": owner}
        if self.teacher_scores is not None:
            arrays["teacher_scores"] = self.teacher_scores[rows]
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        """The model's inputs, by argument name."""
        return dict(zip(("ids", "mask", "types"), self.encoded.padded(rows, self.pad_id), strict=True))

    @property
    def balance(self) -> float:
        """Incorrect pairs per correct pair."""
        correct = int(self.labels.sum())
        return (len(self) - correct) / correct
