"""Pairs of texts as arrays of token ids: as tokenised (shared texts stored once), and as laid out for a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Segment = tuple[list[int], int]
"""Token ids, and the token type that all of them have."""


@dataclass(frozen=True)
class EncodedPairs:
    """Token ids of many pairs, end to end: pair i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.int32]  # (tokens,)
    types: NDArray[np.int8]  # (tokens,)
    offsets: Ints  # (pairs + 1,)
    truncated: Bools  # (pairs,)
    context: tuple[int, Ints] | None = None
    """If texts are sequences of their own: where in them contexts begin, and the lengths of these, (texts,). None if no
    text has a context."""

    def __len__(self) -> int:
        return len(self.truncated)

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    def take(self, rows: Ints) -> EncodedPairs:
        """Select pairs, in the order of `rows`."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths[rows])))
        source = self.token_positions(rows)
        return EncodedPairs(self.ids[source], self.types[source], offsets, self.truncated[rows])

    def token_positions(self, rows: Ints) -> Ints:
        """Indices into `ids` of the tokens of some pairs, end to end."""
        return positions(self.offsets[rows], self.lengths[rows])

    def padded(self, rows: Sequence[int] | Ints, pad_id: int) -> tuple[Ints, Bools, Ints]:
        """Padded ids, mask and types of some pairs, each of shape (rows, longest)."""
        rows = np.asarray(rows, dtype=np.int64)
        lengths = self.lengths[rows]
        position = np.arange(lengths.max(initial=0))
        mask = position < lengths[:, None]  # (rows, longest)
        source = self.token_positions(rows)
        ids = np.full(mask.shape, pad_id, dtype=np.int64)
        types = np.zeros(mask.shape, dtype=np.int64)
        ids[mask], types[mask] = self.ids[source], self.types[source]
        return ids, mask, types


@dataclass(frozen=True)
class PairTokens:
    """Token ids of many pairs before layout, without special tokens. A text that several pairs share is stored once."""

    ids: NDArray[np.int32]  # of all questions and texts, end to end
    questions: Ints  # (pairs, 2): where in `ids` the question begins, and how many of its tokens are read
    texts: Ints  # (pairs, 2): the same for the text
    truncated: Bools  # (pairs,)
    special: int
    """Number of special tokens of a pair once it is laid out."""
    context: Ints | None = None
    """(pairs,): number of tokens at the start of the text that are its context; None if not recorded."""

    def __len__(self) -> int:
        return len(self.truncated)

    @property
    def lengths(self) -> Ints:
        """(pairs,): tokens of each pair once it is laid out."""
        return self.questions[:, 1] + self.texts[:, 1] + self.special

    def take(self, rows: Ints) -> PairTokens:
        """Select pairs, in the order of `rows`."""
        context = None if self.context is None else self.context[rows]
        return PairTokens(self.ids, self.questions[rows], self.texts[rows], self.truncated[rows], self.special, context)

    def question(self, row: int) -> Ints:
        """The ids of one pair's question."""
        start, length = self.questions[row]
        return self.ids[start : start + length].astype(np.int64)

    def text_ids(self, rows: Ints) -> tuple[Ints, Ints]:
        """The ids of some pairs' texts, end to end, and the number of tokens of each, (rows,)."""
        starts, lengths = self.texts[rows].T
        return self.ids[positions(starts, lengths)].astype(np.int64), lengths


@dataclass(frozen=True)
class PairLayout:
    """The special tokens of a pair: before and after the question, before and after the text."""

    around_question: tuple[list[int], list[int]]
    around_text: tuple[list[int], list[int]]
    types: tuple[int, int] = (0, 1)
    """The token type of the question with its special tokens, and of the text with its own."""

    @property
    def special(self) -> int:
        """The number of special tokens."""
        return sum(map(len, (*self.around_question, *self.around_text)))

    def lay_out(self, tokens: PairTokens) -> EncodedPairs:
        """Put the special tokens around the questions and texts."""
        constants = (*self.around_question, *self.around_text)
        ends = np.cumsum([0, *map(len, constants)])
        ids = np.concatenate([np.array(constant, np.int32) for constant in constants] + [tokens.ids])
        segments = np.zeros((len(tokens), 6, 2), np.int64)  # of each pair: where a segment begins in `ids`, its length
        segments[:, [0, 2, 3, 5], 0], segments[:, [0, 2, 3, 5], 1] = ends[:-1], np.diff(ends)
        segments[:, 1], segments[:, 4] = tokens.questions, tokens.texts
        segments[:, [1, 4], 0] += ends[-1]
        starts, lengths = segments[:, :, 0], segments[:, :, 1]
        types = np.repeat(np.tile(np.array(self.types, np.int8), len(tokens)), lengths.reshape(-1, 3).sum(1))
        offsets = np.concatenate(([0], np.cumsum(lengths.sum(1))))
        return EncodedPairs(ids[positions(starts.ravel(), lengths.ravel())], types, offsets, tokens.truncated)


def concatenate(rows: Sequence[Sequence[Segment]], truncated: Sequence[bool]) -> EncodedPairs:
    """Put rows, each made of segments, end to end."""
    segments = [segment for row in rows for segment in row]
    ends = np.cumsum([sum(len(tokens) for tokens, _ in row) for row in rows], dtype=np.int64)
    ids = np.fromiter(chain.from_iterable(tokens for tokens, _ in segments), np.int32)
    types = np.repeat(np.array([kind for _, kind in segments], np.int8), [len(tokens) for tokens, _ in segments])
    return EncodedPairs(ids, types, np.concatenate(([0], ends)), np.array(truncated, dtype=bool))


def positions(starts: Ints, lengths: Ints) -> Ints:
    """The positions of some segments, end to end: `lengths[i]` positions from `starts[i]` on."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
