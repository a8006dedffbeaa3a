"""Pairs of question and sentence as token ids.

The tokeniser is used without its own truncation and padding: those are settings of the tokeniser object, and setting
them while another thread encodes is an error. Cutting and padding are done here instead, on arrays, so that one
`PairTokenizer` may be called from any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cascada.core.errors import CascadaError

Ints = NDArray[np.int64]


Bools = NDArray[np.bool_]


Run = tuple[list[int], int]
"""Tokens, and the segment type that all of them have."""


@dataclass(frozen=True)
class EncodedPairs:
    """Token ids of many pairs, end to end: pair i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.int32]  # (tokens,)
    types: NDArray[np.int8]  # (tokens,)
    offsets: Ints  # (pairs + 1,)
    truncated: Bools  # (pairs,): the pair did not fit and was cut

    def __len__(self) -> int:
        return len(self.truncated)

    @cached_property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    def take(self, rows: Ints) -> EncodedPairs:
        """Some of the pairs, in the order of `rows`."""
        offsets = np.concatenate(([0], np.cumsum(self.lengths[rows])))
        source = self.places(rows)
        return EncodedPairs(self.ids[source], self.types[source], offsets, self.truncated[rows])

    def places(self, rows: Ints) -> Ints:
        """Where the tokens of some pairs stand, end to end."""
        lengths = self.lengths[rows]
        starts = np.repeat(self.offsets[rows] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        return starts + np.arange(lengths.sum())

    def padded(self, rows: Sequence[int] | Ints, pad_id: int) -> tuple[Ints, Bools, Ints]:
        """Ids, mask and types of some pairs, each of shape (rows, longest)."""
        rows = np.asarray(rows, dtype=np.int64)
        lengths = self.lengths[rows]
        position = np.arange(lengths.max(initial=0))
        mask = position < lengths[:, None]  # (rows, longest)
        source = self.places(rows)
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
        self.room = max_length - sum(len(part) for part in self._pair)
        if self.room < 2:
            raise CascadaError(f"max_length is {max_length}: too short for a question and a sentence.")

    @classmethod
    def load(cls, folder: Path, *, max_length: int, pad_id: int = 0) -> PairTokenizer:
        path = folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception for all of its file errors
            raise CascadaError(f"{path} cannot be read as a tokenizer: {error}.") from error
        return cls(tokenizer, max_length=max_length, pad_id=pad_id)

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """Encode `texts[i]` against `questions[owner[i]]`. Each question is tokenised once."""
        asked = self.tokens(questions)
        answered = self.tokens(texts)
        rows, truncated = [], []
        for question, text in zip((asked[index] for index in owner), answered, strict=True):
            keep_question, keep_text = share(len(question), len(text), self.room)
            truncated.append(keep_question < len(question) or keep_text < len(text))
            rows.append(self.laid_out(question[:keep_question], text[:keep_text]))
        return joined(rows, truncated)

    def laid_out(self, question: list[int], text: list[int]) -> tuple[Run, Run]:
        """The tokens of a pair with the special ones around them; the text's own are the first of the second run."""
        before, between, after = self._pair
        return (before + question + between, self._types[0]), (text + after, self._types[1])

    def encode_alone(self, texts: Sequence[str]) -> EncodedPairs:
        """Encode each text by itself, `[CLS] text [SEP]`: for encoders that compare embeddings."""
        before, after = self._single
        room = self.max_length - len(before) - len(after)
        tokens = self.tokens(texts)
        return joined([((before + own[:room] + after, 0),) for own in tokens], [len(own) > room for own in tokens])

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Each text's own tokens without special ones; of a huge text no more than the start that can be used."""
        # What lies past a cut can change the tokens of the word that was cut and of no other. WordPiece makes up to 100
        # tokens of a word and one of a longer one: a start with so many to spare shows every token that will be kept.
        enough = self.max_length + max(self.max_length, 128)
        first_look = 8 * enough  # characters
        starts = [_safe(text[:first_look]) for text in texts]
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch_fast(starts, add_special_tokens=False)]
        for index, text in enumerate(texts):
            look = first_look
            while len(text) > look and len(tokens[index]) < enough:
                look *= 4
                tokens[index] = self.tokenizer.encode(_safe(text[:look]), add_special_tokens=False).ids
        return tokens


def joined(rows: Sequence[Sequence[Run]], truncated: Sequence[bool]) -> EncodedPairs:
    """Each row is made of runs of tokens."""
    runs = [run for row in rows for run in row]
    ends = np.cumsum([sum(len(tokens) for tokens, _ in row) for row in rows], dtype=np.int64)
    ids = np.fromiter(chain.from_iterable(tokens for tokens, _ in runs), np.int32)
    types = np.repeat(np.array([segment for _, segment in runs], np.int8), [len(tokens) for tokens, _ in runs])
    return EncodedPairs(ids, types, np.concatenate(([0], ends)), np.array(truncated, dtype=bool))


def _safe(text: str) -> str:
    """Halves of surrogate pairs cannot be given to the tokeniser: two become their character, one alone becomes �."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def share(question: int, text: int, room: int) -> tuple[int, int]:
    """How many tokens of each are kept: the sentence gives way first, the question past half of the room."""
    if question + text <= room:
        return question, text
    question = min(question, max(room // 2, room - text))
    return question, room - question


def _pair_layout(tokenizer: Tokenizer) -> tuple[tuple[list[int], list[int], list[int]], tuple[int, int]]:
    """The special tokens before, between and after the two texts, and the two segment types."""
    pair = tokenizer.encode("a", "b")
    first = [place for place, sequence in enumerate(pair.sequence_ids) if sequence == 0]
    second = [place for place, sequence in enumerate(pair.sequence_ids) if sequence == 1]
    if not first or not second:
        raise CascadaError("The tokenizer cannot encode a pair of texts.")
    special = pair.ids[: first[0]], pair.ids[first[-1] + 1 : second[0]], pair.ids[second[-1] + 1 :]
    return special, (pair.type_ids[first[0]], pair.type_ids[second[0]])


def _single_layout(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text that stands alone."""
    single = tokenizer.encode("a")
    own = [place for place, sequence in enumerate(single.sequence_ids) if sequence == 0]
    return single.ids[: own[0]], single.ids[own[-1] + 1 :]
