"""Question and document as token ids, each with special tokens of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cascada.text.pairs import Bools, EncodedPairs, Ints, PairTokenizer


class SideTokenizer:
    """`[CLS] question [SEP]` and `[CLS] document [SEP]`, each cut by itself."""

    def __init__(self, question: PairTokenizer, document: PairTokenizer) -> None:
        self.question = question
        self.document = document
        self.pad_id = document.pad_id

    @classmethod
    def load(cls, folder: Path, *, question_length: int, max_length: int, pad_id: int) -> SideTokenizer:
        question = PairTokenizer.load(folder, max_length=question_length, pad_id=pad_id)
        return cls(question, PairTokenizer(question.tokenizer, max_length=max_length, pad_id=pad_id))

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """`texts[i]`, as type 1, behind `questions[owner[i]]`, as type 0: a pair's tokens where both sides meet.

        A text that many questions have is read once.
        """
        owner = np.asarray(owner, np.int64)
        places: dict[str, int] = {}
        own = np.array([places.setdefault(text, len(places)) for text in texts], np.int64)
        asked, told = self.question.encode_alone(questions), self.document.encode_alone(list(places))
        lengths = np.stack((asked.lengths[owner], told.lengths[own]), 1)  # (pairs, 2)
        ids = np.concatenate((asked.ids, told.ids))
        starts = np.stack((asked.offsets[owner], told.offsets[own] + len(asked.ids)), 1).ravel()
        runs = lengths.ravel()
        source = np.repeat(starts - np.concatenate(([0], np.cumsum(runs)[:-1])), runs) + np.arange(runs.sum())
        types = np.repeat(np.tile(np.array([0, 1], np.int8), len(owner)), runs)
        offsets = np.concatenate(([0], np.cumsum(lengths.sum(1))))
        return EncodedPairs(ids[source], types, offsets, asked.truncated[owner] | told.truncated[own])


def padded_sides(
    encoded: EncodedPairs, rows: Sequence[int] | Ints, pad_id: int
) -> tuple[tuple[Ints, Bools], tuple[Ints, Bools]]:
    """Ids and mask of the questions, then of the documents, of some pairs; each of shape (rows, longest)."""
    ids, mask, types = encoded.padded(rows, pad_id)
    asked = (mask & (types == 0)).sum(1)
    return _cut(ids, np.zeros_like(asked), asked, pad_id), _cut(ids, asked, mask.sum(1) - asked, pad_id)


def _cut(ids: Ints, starts: Ints, lengths: Ints, pad_id: int) -> tuple[Ints, Bools]:
    """Of each row the `lengths` ids from `starts` on, padded to the longest, and where they are not padding."""
    position = np.arange(lengths.max(initial=0))
    mask = position < lengths[:, None]
    places = np.minimum(starts[:, None] + position, max(ids.shape[1] - 1, 0))
    return np.where(mask, np.take_along_axis(ids, places, 1), pad_id), mask
