"""Long texts as overlapping windows, each next to the question, with the character offsets of every token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cascada.core.errors import CascadaError
from cascada.text.pair_arrays import Bools, EncodedPairs, Ints, concatenate
from cascada.text.pairs import PairTokenizer, kept_lengths
from cascada.text.words import without_surrogates


@dataclass(frozen=True)
class Windows:
    """Windows `[CLS] question [SEP] part of a text [SEP]`: several for a long text, one for an empty text."""

    encoded: EncodedPairs
    text: Ints  # (windows,): index of the window's text
    first: Ints  # (windows,): position in the window of its first text token
    token: Ints  # (windows,): index of that token in the text
    tokens: Ints  # (windows,): number of text tokens in the window
    offsets: list[Ints]  # for each text (tokens, 2): first character and end of each token

    def __len__(self) -> int:
        return len(self.text)

    def document_mask(self, rows: Sequence[int] | Ints) -> Bools:
        """(rows, longest): True for tokens of the text; False for the question, special tokens and padding."""
        rows = np.asarray(rows, dtype=np.int64)
        position = np.arange(self.encoded.lengths[rows].max(initial=0))
        first, tokens = self.first[rows, None], self.tokens[rows, None]
        return (position >= first) & (position < first + tokens)

    def character_span(self, window: int, first: int, last: int) -> tuple[int, int]:
        """Start and end, in characters of the text, of the tokens at positions `first` to `last` of a window."""
        offsets = self.offsets[self.text[window]]
        shift = self.token[window] - self.first[window]
        return int(offsets[first + shift, 0]), int(offsets[last + shift, 1])

    def token_span(self, window: int, start: int, end: int) -> tuple[int, int] | None:
        """First and last position in a window of the text's characters `start` to `end`; None if not all are in it."""
        token = int(self.token[window])
        offsets = self.offsets[self.text[window]]
        touched = np.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > start)) - token
        if not len(touched) or touched[0] < 0 or touched[-1] >= self.tokens[window]:
            return None
        first = int(self.first[window])
        return first + int(touched[0]), first + int(touched[-1])


class WindowTokenizer:
    """Splits texts that do not fit next to their question; consecutive windows share `overlap` tokens."""

    def __init__(self, pairs: PairTokenizer, *, overlap: int) -> None:
        if not 0 <= overlap < pairs.room // 2:
            raise CascadaError(
                f"overlap is {overlap}; with max_length {pairs.max_length} it must be from 0 to {pairs.room // 2 - 1}."
            )
        self.pairs = pairs
        self.overlap = overlap

    @classmethod
    def load(cls, folder: Path, *, max_length: int, overlap: int, pad_id: int = 0) -> WindowTokenizer:
        """Read `folder`/tokenizer.json."""
        return cls(PairTokenizer.load(folder, max_length=max_length, pad_id=pad_id), overlap=overlap)

    @property
    def pad_id(self) -> int:
        return self.pairs.pad_id

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> Windows:
        """Encode `texts[i]` against `questions[owner[i]]`."""
        question_tokens = self.pairs.tokens(questions)
        valid = [without_surrogates(text, same_length=True) for text in texts]
        encodings = self.pairs.tokenizer.encode_batch(valid, add_special_tokens=False)
        rows, truncated, columns = [], [], []
        pairs = zip((question_tokens[index] for index in owner), encodings, strict=True)
        for number, (question, text) in enumerate(pairs):
            keep = int(kept_lengths(len(question), len(text.ids), self.pairs.room)[0])
            room = self.pairs.room - keep
            for start in _starts(len(text.ids), room, self.overlap):
                part = text.ids[start : start + room]
                row = self.pairs.lay_out(question[:keep], part)
                rows.append(row)
                truncated.append(keep < len(question))
                columns.append((number, len(row[0][0]), start, len(part)))
        text_of, first, token, tokens = np.array(columns, dtype=np.int64).reshape(-1, 4).T
        offsets = [np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2) for encoding in encodings]
        return Windows(concatenate(rows, truncated), text_of, first, token, tokens, offsets)


def _starts(tokens: int, room: int, overlap: int) -> range:
    """First token of each window. A text that fits has one window, even if a long question leaves little room."""
    return range(0, max(1, tokens - overlap), max(1, room - overlap))
