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
from cascada.text.context import InContext
from cascada.text.wordpiece import Ids, WordPieceTable, encode_whole
from cascada.text.words import without_surrogates

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Segment = tuple[list[int], int]
"""Token ids, and the token type that all of them have."""

MANY = 32
"""Texts from which on a table of words pays: it is made from the vocabulary, once, in some hundredths of a second."""


@dataclass(frozen=True)
class EncodedPairs:
    """Token ids of many pairs, end to end: pair i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.int32]  # (tokens,)
    types: NDArray[np.int8]  # (tokens,)
    offsets: Ints  # (pairs + 1,)
    truncated: Bools  # (pairs,)
    context: tuple[int, Ints] | None = None
    """If texts have special tokens of their own and any has a context: where contexts begin, their lengths (texts,)."""

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
    """Token ids of many pairs that are not laid out yet, without special tokens. What pairs share is stored once."""

    ids: NDArray[np.int32]  # of all questions and texts, end to end
    questions: Ints  # (pairs, 2): where in `ids` the question begins, and how many of its tokens are read
    texts: Ints  # (pairs, 2): the same for the text
    truncated: Bools  # (pairs,)
    special: int
    """How many special tokens a pair has when it is laid out."""
    context: Ints | None = None
    """(pairs,): how many of the text's tokens, from the first, are its context; None if it is all the same."""

    def __len__(self) -> int:
        return len(self.truncated)

    @property
    def lengths(self) -> Ints:
        """(pairs,): as laid out."""
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


class PairTokenizer:
    """Lays out `[CLS] question [SEP] sentence [SEP]`, whatever these tokens are called in the model's vocabulary."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        max_length: int,
        pad_id: int = 0,
        prompt: str = "",
        before_single: str = "",
        token_types: bool = True,
    ) -> None:
        """`prompt` stands before every question of a pair, `before_single` before every text that is encoded alone.

        Without `token_types`, all tokens have type 0.
        """
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.pad_id = pad_id
        self.prompt = prompt
        layout = _pair_layout(tokenizer)
        self.layout = layout if token_types else replace(layout, types=(0, 0))
        self.single = _single_layout(tokenizer, before_single)
        """What stands before and after a text that is encoded alone: special tokens, and a prompt if there is one."""
        self.not_words = _not_words(tokenizer)
        """The ids of special tokens, and of the piece that stands for anything unknown."""
        self.room = max_length - self.layout.special
        self._recent: tuple[dict[str, list[int]], Ids] = {}, np.empty(0, np.int32)
        """Texts that were tokenised last, each with its place in the ids; replaced as one, for other threads."""
        if min(self.room, max_length - sum(map(len, self.single))) < 2:
            raise CascadaError(f"max_length is {max_length}: too short for a question and a sentence.")
        if not 0 <= pad_id < tokenizer.get_vocab_size():
            raise CascadaError(f"pad_id is {pad_id}; the vocabulary has {tokenizer.get_vocab_size():,} pieces.")

    @classmethod
    def load(
        cls, folder: Path, *, max_length: int, pad_id: int = 0, prompt: str = "", token_types: bool = True
    ) -> PairTokenizer:
        """Read `folder`/tokenizer.json."""
        path = folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception for all of its file errors
            raise CascadaError(f"{path} cannot be read as a tokenizer: {error}.") from error
        return cls(tokenizer, max_length=max_length, pad_id=pad_id, prompt=prompt, token_types=token_types)

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """Encode `texts[i]` against `questions[owner[i]]`. Each question is tokenised once."""
        return self.layout.lay_out(self.tokenise(questions, texts, owner))

    def tokenise(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> PairTokens:
        """The first half of `encode`: token ids, truncated to fit the pair, but not laid out."""
        asked_texts = [self.prompt + question for question in questions] if self.prompt else questions
        ids, asked, answered = pool(self.token_ids(asked_texts), self.token_ids(texts))
        asked = asked[np.asarray(owner, np.int64)]
        without_context(answered, self.context_lengths(texts), self.room - asked[:, 1])
        kept = kept_lengths(asked[:, 1], answered[:, 1], self.room)
        truncated = (kept[0] < asked[:, 1]) | (kept[1] < answered[:, 1])
        asked[:, 1], answered[:, 1] = kept
        return PairTokens(ids, asked, answered, truncated, self.layout.special)

    def lay_out(self, question: list[int], text: list[int]) -> tuple[Segment, Segment]:
        """Put a pair's special tokens around its tokens; the second segment begins with the text's first token."""
        (before, between), (_, after) = self.layout.around_question, self.layout.around_text
        return (before + question + between, self.layout.types[0]), (text + after, self.layout.types[1])

    def encode_alone(self, texts: Sequence[str]) -> EncodedPairs:
        """Encode each text by itself, `[CLS] text [SEP]`."""
        room = self.max_length - sum(map(len, self.single))
        ids, places = self.token_ids(texts)
        context = self.context_lengths(texts)
        context -= without_context(places, context, np.full(len(texts), room))
        truncated = places[:, 1] > room
        places[:, 1] = np.minimum(places[:, 1], room)
        return self.lay_out_alone(ids, places, truncated, context)

    def lay_out_alone(self, ids: Ids, places: Ints, truncated: Bools, context: Ints | None) -> EncodedPairs:
        """Put special tokens around texts that are encoded alone: (texts, 2) places in `ids`, cut to fit already."""
        layout = PairLayout(([], []), self.single, (0, 0))
        encoded = layout.lay_out(PairTokens(ids, np.zeros_like(places), places, truncated, layout.special))
        return (
            encoded
            if context is None or not context.any()
            else replace(encoded, context=(len(self.single[0]), context))
        )

    def context_lengths(self, texts: Sequence[str]) -> Ints:
        """How many tokens of each text are its context, (texts,)."""
        lengths = np.zeros(len(texts), np.int64)
        numbers = [number for number, text in enumerate(texts) if isinstance(text, InContext)]
        if numbers:
            lengths[numbers] = self.token_ids([texts[number].before for number in numbers])[1][:, 1]  # type: ignore[attr-defined]
        return lengths

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text; see `token_ids`."""
        ids, places = self.token_ids(texts)
        return [ids[start : start + length].tolist() for start, length in places]

    def token_ids(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """Token ids without special tokens, and where in them each text begins and how many are its own, (texts, 2).

        Only as much of a huge text is read as can be used. Of many texts, those of the call before are remembered:
        a ranking counts the tokens of its texts before its first stage reads them.
        """
        if len(texts) < MANY:
            return self._token_ids(texts)
        known, before = self._recent
        missing = [text for text in texts if text not in known]
        ids, places = self._token_ids(missing)
        if len(missing) == len(texts):
            self._recent = dict(zip(texts, places.tolist(), strict=True)), ids
            return ids, places
        places[:, 0] += len(before)
        own = known | dict(zip(missing, places.tolist(), strict=True))
        self._recent = {}, ids[:0]
        return np.concatenate((before, ids)), np.array([own[text] for text in texts], np.int64)

    def _token_ids(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        # Text after a cut can change only the tokens of the word that was cut. WordPiece turns a word into at most 100
        # tokens, and a longer word into one: a beginning with that many tokens to spare has all tokens that are kept.
        enough = self.max_length + max(self.max_length, 128)
        characters = 8 * enough
        ids, places = self._encode([without_surrogates(text[:characters]) for text in texts])
        for index in [index for index, text in enumerate(texts) if len(text) > characters]:
            longer = characters
            while len(texts[index]) > longer and places[index, 1] < enough:
                longer *= 4
                more, own = encode_whole(self.tokenizer, [without_surrogates(texts[index][:longer])])
                places[index] = len(ids), own[0, 1]
                ids = np.concatenate((ids, more))
        return ids, places

    def _encode(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        table = self._table if len(texts) >= MANY else None
        return encode_whole(self.tokenizer, texts) if table is None else table.encode(texts)

    @cached_property
    def _table(self) -> WordPieceTable | None:
        return WordPieceTable.of(self.tokenizer)


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


def pool(questions: tuple[Ids, Ints], texts: tuple[Ids, Ints]) -> tuple[Ids, Ints, Ints]:
    """The ids of both sides end to end, and where each question and text begins in them with its length, (…, 2)."""
    (asked, question_places), (answered, text_places) = questions, texts
    return np.concatenate((asked, answered)), question_places, text_places + np.array([len(asked), 0])


def without_context(texts: Ints, context: Ints, room: Ints) -> Ints:
    """Cut as many of a text's first `context` tokens as are needed to fit; `texts` are changed, (texts, 2).

    Returns how many were cut, (texts,).
    """
    cut: Ints = np.clip(texts[:, 1] - room, 0, context)
    texts[:, 0] += cut
    texts[:, 1] -= cut
    return cut


def kept_lengths(question: Ints | int, text: Ints | int, room: int) -> tuple[Ints, Ints]:
    """Tokens of questions and texts that fit, as transformers' `longest_first` cuts them.

    A side is cut only if it exceeds half the room; if both do, the longer one gets the odd token, the text if equal.
    """
    half = room // 2 + (room % 2) * (question > text)
    kept = np.minimum(question, np.maximum(half, room - text))
    return kept, np.minimum(text, room - kept)


def _not_words(tokenizer: Tokenizer) -> list[int]:
    special = {id for id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    unknown = getattr(tokenizer.model, "unk_token", None)
    id = tokenizer.token_to_id(unknown) if unknown else getattr(tokenizer.model, "unk_id", None)  # Unigram has an id
    return sorted(special if id is None else {*special, id})


def _pair_layout(tokenizer: Tokenizer) -> PairLayout:
    pair = tokenizer.encode("a", "b")
    first = [position for position, sequence in enumerate(pair.sequence_ids) if sequence == 0]
    second = [position for position, sequence in enumerate(pair.sequence_ids) if sequence == 1]
    if not first or not second:
        raise CascadaError("The tokenizer cannot encode a pair of texts.")
    around_question = pair.ids[: first[0]], pair.ids[first[-1] + 1 : second[0]]
    around_text: tuple[list[int], list[int]] = [], pair.ids[second[-1] + 1 :]
    return PairLayout(around_question, around_text, (pair.type_ids[first[0]], pair.type_ids[second[0]]))


def _single_layout(tokenizer: Tokenizer, prompt: str) -> tuple[list[int], list[int]]:
    """Special tokens before and after a single text; those before it are followed by the prompt."""
    single = tokenizer.encode("a")
    own = [position for position, sequence in enumerate(single.sequence_ids) if sequence == 0]
    before = tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else []
    return single.ids[: own[0]] + before, single.ids[own[-1] + 1 :]
