"""How much of a text a ranker reads, and windows of whole sentences for texts that are longer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.text.pair_arrays import Ints
from cascada.text.pairs import PairTokenizer
from cascada.text.sentences import sentences
from cascada.text.words import without_surrogates

Span = tuple[int, int]
"""Character offsets of a part of a text: `text[start:end]`."""


class TextLimit(ABC):
    """How many tokens of a text a stage reads."""

    longest: int
    """The number of tokens that are read of question and text together, or of a text alone."""

    @abstractmethod
    def room(self, questions: Sequence[str]) -> Ints:
        """How many tokens of a long text are read for each question, (questions,)."""

    @abstractmethod
    def counts(self, texts: Sequence[str]) -> Ints:
        """The number of tokens of each text, (texts,); for a huge text, any number beyond the limit."""

    @abstractmethod
    def tokens(self, text: str) -> list[Span]:
        """The character offsets of a text's tokens."""

    def beginning(self, text: str, tokens: int) -> int:
        """Where the first `tokens` tokens of a text end, in characters."""
        return next((end for _, end in self._pieces(text, tokens)), len(text))

    def windows(self, text: str, tokens: int) -> list[Span]:
        """Divide a text into parts of whole sentences, each of at most `tokens` tokens.

        A longer sentence is divided. Between two windows there is only white space.
        """
        spans = [(sentence.start, sentence.end) for sentence in sentences(text)]
        if not spans:
            return [(0, len(text))]
        counts = self.counts([text[start:end] for start, end in spans]).tolist()
        windows: list[Span] = []
        filled = tokens  # tokens of the last window: the first sentence begins one
        for (start, end), count in zip(spans, counts, strict=True):
            if count > tokens:
                windows += [(start + first, start + last) for first, last in self._pieces(text[start:end], tokens)]
                filled = tokens
            elif filled + count > tokens:
                windows.append((start, end))
                filled = count
            else:
                windows[-1] = (windows[-1][0], end)
                filled += count
        return windows

    def _pieces(self, text: str, tokens: int) -> Iterator[Span]:
        """Divide a text after every `tokens` tokens."""
        spans = self.tokens(text)
        ends = [end for _, end in spans[tokens - 1 : -1 : tokens]]
        starts = [start for start, _ in spans[tokens::tokens]]
        return zip([0, *starts], [*ends, len(text)], strict=True)


@dataclass(frozen=True)
class PieceLimit(TextLimit):
    """The limit of a tokenizer, for texts that are read beside a question, or alone."""

    tokenizer: PairTokenizer
    beside_question: bool = True

    @property
    def longest(self) -> int:  # type: ignore[override]
        return self.tokenizer.max_length

    def room(self, questions: Sequence[str]) -> Ints:
        tokenizer = self.tokenizer
        if not self.beside_question:
            return np.full(len(questions), tokenizer.max_length - sum(map(len, tokenizer.single)), np.int64)
        asked = np.array([len(ids) for ids in tokenizer.tokens(questions)], np.int64)
        return tokenizer.room - np.minimum(asked, tokenizer.room // 2)

    def counts(self, texts: Sequence[str]) -> Ints:
        return self.tokenizer.token_ids(texts)[1][:, 1]

    def tokens(self, text: str) -> list[Span]:
        plain = without_surrogates(text, same_length=True)
        return self.tokenizer.tokenizer.encode(plain, add_special_tokens=False).offsets
