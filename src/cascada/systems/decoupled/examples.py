"""Pairs for a decoupled ranker: question and document apart, and documents of other questions beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from cascada.ranking.stage import Bools, Floats, Ints
from cascada.text.sides import padded_sides
from cascada.training.examples import Examples

if TYPE_CHECKING:
    from cascada.store import Store


@dataclass(frozen=True, kw_only=True)
class SideExamples(Examples):
    """Pairs as token ids, the sides apart; a question that several pairs of a batch share is in it once."""

    texts: tuple[str, ...] = ()
    """Each pair's document, (pairs,)."""
    others: int = 0
    """With how many documents of a batch's other questions each question is compared too, as wrong ones."""
    store: Store | None = None
    """Where documents' encodings are, if they are not computed."""

    def collate(self, rows: list[int]) -> dict[str, Tensor]:
        batch = super().collate(rows)
        more = self._others(rows) if self.others else np.empty((0, 2), np.int64)
        batch["asked"] = torch.cat((batch["owner"], torch.from_numpy(more[:, 0])))
        batch["told"] = torch.cat((torch.arange(len(rows)), torch.from_numpy(more[:, 1])))
        batch["labels"] = torch.cat((batch["labels"], torch.zeros(len(more), dtype=torch.int64)))
        return batch | {"owner": batch["asked"]}

    def inputs(self, rows: list[int]) -> dict[str, np.ndarray]:
        _, first = np.unique(self.owner[rows], return_index=True)
        (question, question_mask), _ = padded_sides(self.encoded, np.asarray(rows)[first], self.pad_id)
        text, text_mask = self._documents(rows)
        return {"question": question, "question_mask": question_mask, "text": text, "text_mask": text_mask}

    def _documents(self, rows: list[int]) -> tuple[Ints | Floats, Bools]:
        """Ids (documents, longest), or encodings (documents, longest, width), and their mask."""
        if self.store is None:
            return padded_sides(self.encoded, rows, self.pad_id)[1]
        return padded_encodings(self.store.get([self.texts[row] for row in rows]))

    def _others(self, rows: list[int]) -> Ints:
        """(pairs, 2): questions of the batch, and places in it of documents that are wrong for them.

        Which ones is drawn from the rows themselves, so that a run that goes on draws as it would have.
        """
        random = np.random.default_rng(rows)
        found = [np.empty((0, 2), np.int64)]
        for number, owner in enumerate(np.unique(self.owner[rows])):
            own = range(*np.searchsorted(self.owner, (owner, owner + 1)))  # a question's pairs stand together
            known = {self.texts[row] for row in own if self.labels[row] or row in rows}
            wrong = [place for place, row in enumerate(rows) if self.texts[row] not in known]
            drawn = random.permutation(wrong)[: self.others].astype(np.int64)
            found.append(np.stack((np.full_like(drawn, number), drawn), 1))
        return np.concatenate(found)


def padded_encodings(encodings: Sequence[Floats | None]) -> tuple[Floats, Bools]:
    """(documents, longest, width) and where they are not padding."""
    own = [one for one in encodings if one is not None]
    assert len(own) == len(encodings), "the store was filled before"
    lengths = np.array([len(one) for one in own])
    padded = np.zeros((len(own), lengths.max(), own[0].shape[1]), np.float32)
    for row, one in zip(padded, own, strict=True):
        row[: len(one)] = one
    return padded, np.arange(padded.shape[1]) < lengths[:, None]
