"""Training pairs of a decoupled ranker: question and document separately, and in-batch negatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from cascada.objectives.losses import group_max
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.text.sides import padded_sides
from cascada.training.examples import Examples

if TYPE_CHECKING:
    from cascada.store import Store


@dataclass(frozen=True, kw_only=True)
class SideExamples(Examples):
    """Pairs as token ids, each side separately; a question that several pairs of a batch share is in it once."""

    texts: tuple[str, ...] = ()
    """The document of each pair, (pairs,)."""
    others: int = 0
    """How many documents of a batch's other questions each question is compared with, as incorrect ones."""
    store: Store | None = None
    """Where the documents' encodings are, if they are not computed."""

    def collate(self, rows: list[int]) -> dict[str, Tensor]:
        batch = super().collate(rows)
        more = self._in_batch_negatives(rows) if self.others else np.empty((0, 2), np.int64)
        batch["question_of"] = torch.cat((batch["owner"], torch.from_numpy(more[:, 0])))
        batch["document_of"] = torch.cat((torch.arange(len(rows)), torch.from_numpy(more[:, 1])))
        batch["labels"] = torch.cat((batch["labels"], torch.zeros(len(more), dtype=torch.int64)))
        if self.teacher_scores is not None:
            batch["teacher_scores"] = torch.cat((batch["teacher_scores"], self._teacher_of_others(batch, more)))
        return batch | {"owner": batch["question_of"]}

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        _, first = np.unique(self.owner[rows], return_index=True)
        (question, question_mask), _ = padded_sides(self.encoded, np.asarray(rows)[first], self.pad_id)
        text, text_mask = self._documents(rows)
        inputs = {"question": question, "question_mask": question_mask, "text": text, "text_mask": text_mask}
        if self.encoded.context is not None and self.store is None:
            inputs["context"] = self.encoded.context[1][rows]
        return inputs

    def _documents(self, rows: list[int]) -> tuple[Ints | Floats, Bools]:
        """Ids (documents, longest), or encodings (documents, longest, width), and their mask."""
        if self.store is None:
            return padded_sides(self.encoded, rows, self.pad_id)[1]
        return padded_encodings(self.store.get([self.texts[row] for row in rows]))

    def _teacher_of_others(self, batch: dict[str, Tensor], more: Ints) -> Tensor:
        """Targets for in-batch negatives, which no teacher has scored: one standard deviation below the lowest
        candidate of the question. Teachers' scores are standardised, so that is 1."""
        questions = int(batch["owner"].max()) + 1
        lowest = group_max(-batch["teacher_scores"], batch["owner"], questions).neg()
        return lowest[torch.from_numpy(more[:, 0])] - 1

    def _in_batch_negatives(self, rows: list[int]) -> Ints:
        """(pairs, 2): a question's number in the batch, and the place in the batch of an incorrect document for it.

        The rows are the seed, so that a resumed run draws the same documents.
        """
        random = np.random.default_rng(rows)
        pairs = [np.empty((0, 2), np.int64)]
        for number, owner in enumerate(np.unique(self.owner[rows])):
            own = range(*np.searchsorted(self.owner, (owner, owner + 1)))  # a question's pairs are consecutive
            excluded = {self.texts[row] for row in own if self.labels[row] or row in rows}
            incorrect = [place for place, row in enumerate(rows) if self.texts[row] not in excluded]
            drawn = random.permutation(incorrect)[: self.others].astype(np.int64)
            pairs.append(np.stack((np.full_like(drawn, number), drawn), 1))
        return np.concatenate(pairs)


def padded_encodings(encodings: Sequence[Floats | None]) -> tuple[Floats, Bools]:
    """The encodings as (documents, longest, width), and their mask (documents, longest)."""
    arrays = [encoding for encoding in encodings if encoding is not None]
    assert len(arrays) == len(encodings), "the store was filled before"
    lengths = np.array([len(array) for array in arrays])
    padded = np.zeros((len(arrays), lengths.max(), arrays[0].shape[1]), np.float32)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return padded, np.arange(padded.shape[1]) < lengths[:, None]
