"""Pairs of question and sentence, tokenised and truncated.

The tokenizer's own truncation and padding are not used: they are settings of the tokenizer object, and changing them
while another thread encodes is an error. Arrays are truncated and padded instead, here and in `pair_arrays.py`, so any
number of threads may share one `PairTokenizer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from cascada.core.errors import CascadaError
from cascada.text.context import InContext
from cascada.text.pair_arrays import Bools, EncodedPairs, Ints, PairLayout, PairTokens, Segment
from cascada.text.wordpiece import Ids, WordPieceTable, encode_whole
from cascada.text.words import without_surrogates

MANY = 32
"""Calls with at least this many texts use a `WordPieceTable`, built once in some hundredths of a second."""


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
        """The ids of the special tokens and of the unknown token."""
        self.room = max_length - self.layout.special
        self._recent: tuple[dict[str, list[int]], Ids] = {}, np.empty(0, np.int32)
        """The texts tokenised last, with their places in the ids. Replaced as one tuple, for other threads."""
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
        """Put special tokens around texts that are encoded alone: (texts, 2) `places` in `ids`, truncated already."""
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
        """Token ids without special tokens, and each text's start in them and length, (texts, 2).

        Of a huge text, only the part that can be used is tokenised. A call with at least `MANY` texts keeps its result
        for the next one, because a ranking counts the tokens of its texts before its first stage reads them.
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
        all_places = known | dict(zip(missing, places.tolist(), strict=True))
        self._recent = {}, ids[:0]
        return np.concatenate((before, ids)), np.array([all_places[text] for text in texts], np.int64)

    def _token_ids(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        # A cut changes only the tokens of the word that it divides. WordPiece makes at most 100 tokens of a word, and
        # one of a longer word: a beginning with that many tokens to spare has all tokens that are kept.
        enough = self.max_length + max(self.max_length, 128)
        characters = 8 * enough
        ids, places = self._encode([without_surrogates(text[:characters]) for text in texts])
        for index in [index for index, text in enumerate(texts) if len(text) > characters]:
            longer = characters
            while len(texts[index]) > longer and places[index, 1] < enough:
                longer *= 4
                more, place = encode_whole(self.tokenizer, [without_surrogates(texts[index][:longer])])
                places[index] = len(ids), place[0, 1]
                ids = np.concatenate((ids, more))
        return ids, places

    def _encode(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        table = self._table if len(texts) >= MANY else None
        return encode_whole(self.tokenizer, texts) if table is None else table.encode(texts)

    @cached_property
    def _table(self) -> WordPieceTable | None:
        return WordPieceTable.of(self.tokenizer)


def pool(questions: tuple[Ids, Ints], texts: tuple[Ids, Ints]) -> tuple[Ids, Ints, Ints]:
    """The ids of both sides end to end, and the start and length of each question and text in them, (…, 2)."""
    (asked, question_places), (answered, text_places) = questions, texts
    return np.concatenate((asked, answered)), question_places, text_places + np.array([len(asked), 0])


def without_context(texts: Ints, context: Ints, room: Ints) -> Ints:
    """Cut the start of each text's context, as far as needed to fit into `room`. Changes `texts`, (texts, 2), in place.

    Returns the numbers of tokens cut, (texts,).
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
    of_text = [position for position, sequence in enumerate(single.sequence_ids) if sequence == 0]
    before = tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else []
    return single.ids[: of_text[0]] + before, single.ids[of_text[-1] + 1 :]
