"""Pairs of question and sentence as token ids.

The tokenizer's own truncation and padding are not used: they are settings of the tokenizer object, and changing them
while another thread encodes is an error. This module truncates and pads arrays instead, so any number of threads may
share one `PairTokenizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cascada.core.errors import CascadaError

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
    spans: Ints | None = None  # (pairs, 4): start and end of the question, and of the text, within the pair

    def __len__(self) -> int:
        return len(self.truncated)

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    def take(self, rows: Ints) -> EncodedPairs:
        """Select pairs, in the order of `rows`."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths[rows])))
        source = self.token_positions(rows)
        spans = None if self.spans is None else self.spans[rows]
        return EncodedPairs(self.ids[source], self.types[source], offsets, self.truncated[rows], spans)

    def question(self, row: int) -> Ints:
        """The question's tokens in one pair, without special tokens."""
        assert self.spans is not None
        start, end = self.offsets[row] + self.spans[row, :2]
        return self.ids[start:end].astype(np.int64)

    def text_positions(self, rows: Ints) -> tuple[Ints, Ints]:
        """Indices into `ids` of the texts' tokens, end to end, and the number of tokens of each text (rows,)."""
        assert self.spans is not None
        first, last = self.spans[rows, 2], self.spans[rows, 3]
        lengths = last - first
        starts = np.repeat(self.offsets[rows] + first - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        return starts + np.arange(lengths.sum()), lengths

    def token_positions(self, rows: Ints) -> Ints:
        """Indices into `ids` of the tokens of some pairs, end to end."""
        lengths = self.lengths[rows]
        starts = np.repeat(self.offsets[rows] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        return starts + np.arange(lengths.sum())

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


class PairTokenizer:
    """Lays out `[CLS] question [SEP] sentence [SEP]`, whatever these tokens are called in the model's vocabulary."""

    def __init__(self, tokenizer: Tokenizer, *, max_length: int, pad_id: int = 0) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.pad_id = pad_id
        self._pair, self._types = _pair_layout(tokenizer)
        self._single = _single_layout(tokenizer)
        self.not_words = _not_words(tokenizer)
        """The ids of special tokens, and of the piece that stands for anything unknown."""
        self.room = max_length - sum(len(part) for part in self._pair)
        if self.room < 2:
            raise CascadaError(f"max_length is {max_length}: too short for a question and a sentence.")

    @classmethod
    def load(cls, folder: Path, *, max_length: int, pad_id: int = 0) -> PairTokenizer:
        """Read `folder`/tokenizer.json."""
        path = folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception for all of its file errors
            raise CascadaError(f"{path} cannot be read as a tokenizer: {error}.") from error
        return cls(tokenizer, max_length=max_length, pad_id=pad_id)

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """Encode `texts[i]` against `questions[owner[i]]`. Each question is tokenised once."""
        question_tokens = self.tokens(questions)
        text_tokens = self.tokens(texts)
        before, between, _ = map(len, self._pair)
        rows, truncated, spans = [], [], []
        for question, text in zip((question_tokens[index] for index in owner), text_tokens, strict=True):
            keep_question, keep_text = kept_lengths(len(question), len(text), self.room)
            truncated.append(keep_question < len(question) or keep_text < len(text))
            rows.append(self.lay_out(question[:keep_question], text[:keep_text]))
            text_start = before + keep_question + between
            spans.append((before, before + keep_question, text_start, text_start + keep_text))
        return replace(concatenate(rows, truncated), spans=np.array(spans, np.int64).reshape(-1, 4))

    def lay_out(self, question: list[int], text: list[int]) -> tuple[Segment, Segment]:
        """Put a pair's special tokens around its tokens; the second segment begins with the text's first token."""
        before, between, after = self._pair
        return (before + question + between, self._types[0]), (text + after, self._types[1])

    def encode_alone(self, texts: Sequence[str]) -> EncodedPairs:
        """Encode each text by itself, `[CLS] text [SEP]`."""
        before, after = self._single
        room = self.max_length - len(before) - len(after)
        tokens = self.tokens(texts)
        rows = [((before + ids[:room] + after, 0),) for ids in tokens]
        return concatenate(rows, [len(ids) > room for ids in tokens])

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, without special tokens. Only as much of a huge text is read as can be used."""
        # Text after a cut can change only the tokens of the word that was cut. WordPiece turns a word into at most 100
        # tokens, and a longer word into one: a beginning with that many tokens to spare has all tokens that are kept.
        enough = self.max_length + max(self.max_length, 128)
        characters = 8 * enough
        beginnings = [_without_surrogates(text[:characters]) for text in texts]
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch_fast(beginnings, add_special_tokens=False)]
        for index, text in enumerate(texts):
            longer = characters
            while len(text) > longer and len(tokens[index]) < enough:
                longer *= 4
                tokens[index] = self.tokenizer.encode(_without_surrogates(text[:longer]), add_special_tokens=False).ids
        return tokens


def concatenate(rows: Sequence[Sequence[Segment]], truncated: Sequence[bool]) -> EncodedPairs:
    """Put rows, each made of segments, end to end."""
    segments = [segment for row in rows for segment in row]
    ends = np.cumsum([sum(len(tokens) for tokens, _ in row) for row in rows], dtype=np.int64)
    ids = np.fromiter(chain.from_iterable(tokens for tokens, _ in segments), np.int32)
    types = np.repeat(np.array([kind for _, kind in segments], np.int8), [len(tokens) for tokens, _ in segments])
    return EncodedPairs(ids, types, np.concatenate(([0], ends)), np.array(truncated, dtype=bool))


def _without_surrogates(text: str) -> str:
    """Replace surrogates, which the tokenizer rejects: a pair becomes its character, a lone one becomes �."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def kept_lengths(question: int, text: int, room: int) -> tuple[int, int]:
    """Tokens of question and text that fit. The text is cut first, the question only if it exceeds half the room."""
    if question + text <= room:
        return question, text
    question = min(question, max(room // 2, room - text))
    return question, room - question


def _not_words(tokenizer: Tokenizer) -> list[int]:
    special = {id for id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    unknown = getattr(tokenizer.model, "unk_token", None)
    id = tokenizer.token_to_id(unknown) if unknown else None
    return sorted(special if id is None else {*special, id})


def _pair_layout(tokenizer: Tokenizer) -> tuple[tuple[list[int], list[int], list[int]], tuple[int, int]]:
    """Special tokens before, between and after the two texts, and the two token types."""
    pair = tokenizer.encode("a", "b")
    first = [position for position, sequence in enumerate(pair.sequence_ids) if sequence == 0]
    second = [position for position, sequence in enumerate(pair.sequence_ids) if sequence == 1]
    if not first or not second:
        raise CascadaError("The tokenizer cannot encode a pair of texts.")
    special = pair.ids[: first[0]], pair.ids[first[-1] + 1 : second[0]], pair.ids[second[-1] + 1 :]
    return special, (pair.type_ids[first[0]], pair.type_ids[second[0]])


def _single_layout(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Special tokens before and after a single text."""
    single = tokenizer.encode("a")
    own = [position for position, sequence in enumerate(single.sequence_ids) if sequence == 0]
    return single.ids[: own[0]], single.ids[own[-1] + 1 :]
