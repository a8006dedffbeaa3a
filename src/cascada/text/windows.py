"""Texts of any length beside a question: in windows that overlap, with every token's place in its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cascada.core.errors import CascadaError
from cascada.text.pairs import Bools, EncodedPairs, Ints, PairTokenizer, joined, share

_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Windows:
    """`[CLS] question [SEP] a part of a text [SEP]`, several for a long text and one for an empty one."""

    encoded: EncodedPairs
    text: Ints  # (windows,): which text it is of
    first: Ints  # (windows,): where in the window the text's tokens begin
    token: Ints  # (windows,): which of the text's tokens that is
    tokens: Ints  # (windows,): how many of them there are
    offsets: list[Ints]  # for each text (tokens, 2): the characters each of its tokens stands for

    def __len__(self) -> int:
        return len(self.text)

    def document(self, rows: Sequence[int] | Ints) -> Bools:
        """(rows, longest): True on tokens of the text, False on the question, special tokens and padding."""
        rows = np.asarray(rows, dtype=np.int64)
        position = np.arange(self.encoded.lengths[rows].max(initial=0))
        first, tokens = self.first[rows, None], self.tokens[rows, None]
        return (position >= first) & (position < first + tokens)

    def characters(self, window: int, begin: int, end: int) -> tuple[int, int]:
        """The part of the text from one place in the window to another, both included."""
        places = self.offsets[self.text[window]]
        shift = self.token[window] - self.first[window]
        return int(places[begin + shift, 0]), int(places[end + shift, 1])

    def places(self, window: int, start: int, end: int) -> tuple[int, int] | None:
        """Where in the window the characters `start` up to `end` of its text begin and end; None if not all are in."""
        token = int(self.token[window])
        offsets = self.offsets[self.text[window]]
        touched = np.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > start)) - token
        if not len(touched) or touched[0] < 0 or touched[-1] >= self.tokens[window]:
            return None
        first = int(self.first[window])
        return first + int(touched[0]), first + int(touched[-1])


class WindowTokenizer:
    """Cuts what does not fit beside its question; a window begins `overlap` tokens before the last one ended."""

    def __init__(self, pairs: PairTokenizer, *, overlap: int) -> None:
        if not 0 <= overlap < pairs.room // 2:
            raise CascadaError(
                f"overlap is {overlap}: it must be below half of what max_length {pairs.max_length} has room for."
            )
        self.pairs = pairs
        self.overlap = overlap

    @classmethod
    def load(cls, folder: Path, *, max_length: int, overlap: int, pad_id: int = 0) -> WindowTokenizer:
        return cls(PairTokenizer.load(folder, max_length=max_length, pad_id=pad_id), overlap=overlap)

    @property
    def pad_id(self) -> int:
        return self.pairs.pad_id

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> Windows:
        """Encode `texts[i]` against `questions[owner[i]]`."""
        asked = self.pairs.tokens(questions)
        whole = [_HALVES.sub("\ufffd", text) for text in texts]  # a sign for a sign, so that places stay
        read = self.pairs.tokenizer.encode_batch(whole, add_special_tokens=False)
        rows, truncated, described = [], [], []
        for number, (question, text) in enumerate(zip((asked[index] for index in owner), read, strict=True)):
            keep, _ = share(len(question), len(text.ids), self.pairs.room)
            room = self.pairs.room - keep
            for start in _starts(len(text.ids), room, self.overlap):
                part = text.ids[start : start + room]
                row = self.pairs.laid_out(question[:keep], part)
                rows.append(row)
                truncated.append(keep < len(question))
                described.append((number, len(row[0][0]), start, len(part)))
        text_of, first, token, tokens = np.array(described, dtype=np.int64).reshape(-1, 4).T
        offsets = [np.array(one.offsets, dtype=np.int64).reshape(-1, 2) for one in read]
        return Windows(joined(rows, truncated), text_of, first, token, tokens, offsets)


def _starts(tokens: int, room: int, overlap: int) -> range:
    """The first token of each window; of a text that fits, the first alone, even where a question leaves it little."""
    return range(0, max(1, tokens - overlap), max(1, room - overlap))
