"""WordPiece by table look-up: the token ids that `tokenizers` gives, for many texts in a fraction of the time.

BERT's tokenizers split a text at white space and punctuation, and each word into pieces independently of its
neighbours. So one regular expression finds the words of all texts, and most of them are in a table of words and their
pieces. Runs with characters beyond ASCII, which the expression cannot split, enter the table as `tokenizers` splits
them. Texts with special tokens or control characters are left to `tokenizers` entirely, and so are tokenizers of
another kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

Ids = NDArray[np.int32]
Ints = NDArray[np.int64]

END = "\0"
"""Stands between texts that are split together; no text that is split here has it."""

_WORD = re.compile("[A-Za-z0-9\x80-\U0010ffff]+|[!-/:-@\\[-`{-~\0]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # the tokenizer joins what stands around these

CHARACTERS = 1 << 20
"""The table starts afresh once the words added to the vocabulary have this many characters: some 20 MB at most."""

Pieces = dict[str, tuple[int, ...]]


class WordPieceTable:
    """Tokenises texts exactly as its tokenizer does. Several threads may use a table at once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        model, normaliser = tokenizer.model, tokenizer.normalizer
        self.tokenizer = tokenizer
        self._vocabulary: dict[str, int] = tokenizer.get_vocab(with_added_tokens=False)
        self._lowercase = bool(normaliser.lowercase)
        self._model: Any = model
        self._longest_word = int(model.max_input_chars_per_word)
        added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        self._added = re.compile("|".join(map(re.escape, added)) or r"(?!)")
        self._table, self._learnt = self._new_table(), 0

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> WordPieceTable | None:
        """The table of a tokenizer; None if it is not BERT's, or matches added tokens in normalised text."""
        normaliser = tokenizer.normalizer
        parts = (
            (normaliser, BertNormalizer),
            (tokenizer.pre_tokenizer, BertPreTokenizer),
            (tokenizer.model, WordPiece),
        )
        standard = all(type(part) is kind for part, kind in parts) and normaliser.clean_text
        added = tokenizer.get_added_tokens_decoder().values()
        return cls(tokenizer) if standard and not any(token.normalized for token in added) else None

    def encode(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """Token ids without special tokens, and each text's start in them and length, (texts, 2)."""
        whole = [place for place, text in enumerate(texts) if self._has_to_be_read_whole(text)]
        split = [*texts]
        for place in whole:
            split[place] = ""
        ids = self._look_up(_WORD.findall(END.join([*split, ""])))
        ends = np.flatnonzero(ids < 0)
        starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
        places = np.stack((starts, ends - starts), 1)
        if whole:
            ids, places[whole] = self._encode_whole(ids, [texts[place] for place in whole])
        return ids, places

    def _has_to_be_read_whole(self, text: str) -> bool:
        return bool((not text.isprintable() and _CONTROL.search(text)) or self._added.search(text))

    def _look_up(self, words: list[str]) -> Ids:
        """The ids of all words, end to end; -1 for `END`."""
        table = self._table
        try:
            return np.fromiter(chain.from_iterable(map(table.__getitem__, words)), np.int32)
        except KeyError:
            table = self._learn(set(words))
        return np.fromiter(chain.from_iterable(map(table.__getitem__, words)), np.int32)

    def _learn(self, words: set[str]) -> Pieces:
        """Add the words, and return the table that has them: another thread may start a new one meanwhile."""
        if self._learnt > CHARACTERS:
            self._table, self._learnt = self._new_table(), 0
        table = self._table
        new = [word for word in words if word not in table]
        self._learnt += sum(map(len, new))
        table.update((word, self._pieces(word)) for word in new if word.isascii())
        table.update(self._pieces_by_tokenizer([word for word in new if not word.isascii()]))
        return table

    def _new_table(self) -> Pieces:
        """A table of the vocabulary's ASCII words, each its own piece, without those that normalisation changes."""
        table: Pieces = {END: (-1,)}
        for word, id in self._vocabulary.items():
            if word.isascii() and word == self._cased(word) and len(word) <= self._longest_word:
                table[word] = (id,)
        return table

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The pieces of a word of ASCII."""
        return tuple(piece.id for piece in self._model.tokenize(self._cased(word)))

    def _cased(self, word: str) -> str:
        return word.lower() if self._lowercase else word

    def _pieces_by_tokenizer(self, words: Sequence[str]) -> Iterable[tuple[str, tuple[int, ...]]]:
        encodings = self.tokenizer.encode_batch_fast(words, add_special_tokens=False) if words else []
        return ((word, tuple(encoding.ids)) for word, encoding in zip(words, encodings, strict=True))

    def _encode_whole(self, ids: Ids, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """`ids` with those of texts that the tokenizer itself reads appended, and the places of these texts."""
        more, places = encode_whole(self.tokenizer, texts)
        places[:, 0] += len(ids)
        return np.concatenate((ids, more)), places


def encode_whole(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[Ids, Ints]:
    """What `WordPieceTable.encode` returns, computed by a tokenizer of any kind."""
    return end_to_end([encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)])


def end_to_end(rows: Sequence[Sequence[int]]) -> tuple[Ids, Ints]:
    """Ids of several texts in one array, and each text's start in it and length, (texts, 2)."""
    lengths = np.array([len(row) for row in rows], np.int64)
    return np.fromiter(chain.from_iterable(rows), np.int32), np.stack((np.cumsum(lengths) - lengths, lengths), 1)
