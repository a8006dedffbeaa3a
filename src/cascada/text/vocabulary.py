"""Words as ids, for rankers that read words rather than word pieces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from cascada.core.errors import CascadaError, described
from cascada.text.pair_arrays import EncodedPairs, Ints, concatenate
from cascada.text.sentence_windows import Span, TextLimit
from cascada.text.sides import padded_sides
from cascada.text.words import BRACKETS

WORDS_FILE = "words.txt"

PAD, UNKNOWN = 0, 1
"""The first two ids. Words follow."""

_SIGNS = {**BRACKETS, "``": '"', "''": '"'}

_WORD = re.compile(
    "|".join(
        (
            "-[lr][rsc]b-|``|''",  # brackets and quotes as the Penn Treebank writes them
            r"\w+(?=n't\b)|n't\b|'(?:s|re|ve|ll|d|m)\b",  # do n't, it 's: word vectors have entries for the parts
            r"\d+(?:[.,]\d+)+",
            r"\w+",
            r"[^\w\s]",
        )
    ),
    re.IGNORECASE,
)


def word_tokens(text: str) -> list[str]:
    """Words, numbers and punctuation marks, in lower case; the same for natural text and its tokenised form.

    >>> word_tokens("It isn't 1,000 -LRB- yet -RRB-.")
    ['it', 'is', "n't", '1,000', '(', 'yet', ')', '.']
    """
    return [_SIGNS.get(word, word) for word in _WORD.findall(text.lower())]


class Vocabulary:
    """The words a ranker knows, and their ids."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """Collect all words of the texts, the most frequent first."""
        counts = Counter(word for text in texts for word in word_tokens(text))
        return cls(sorted(counts, key=lambda word: (-counts[word], word)))

    def __len__(self) -> int:
        """Number of ids, including PAD and UNKNOWN."""
        return len(self.words) + 2

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, 2)}

    def ids(self, text: str) -> list[int]:
        """Ids of the text's words, at least one: a text without words is one unknown word."""
        return [self._ids.get(word, UNKNOWN) for word in word_tokens(text)] or [UNKNOWN]

    def save(self, path: Path) -> None:
        """Write one word per line."""
        path.write_text("\n".join(self.words), encoding="utf-8", errors="surrogatepass")

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what `save` wrote."""
        try:
            text = path.read_text(encoding="utf-8", errors="surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise CascadaError(f"{path} cannot be read as a vocabulary: {described(error)}.") from error
        return cls(text.split("\n") if text else ())


class WordPairTokenizer:
    """Lays out a question's words, as type 0, before the sentence's, as type 1; each is truncated by itself."""

    pad_id = PAD

    def __init__(self, vocabulary: Vocabulary, *, max_words: int) -> None:
        self.vocabulary = vocabulary
        self.max_words = max_words

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """Encode `texts[i]` against `questions[owner[i]]`. Each question is looked up once."""
        question_ids = [self.vocabulary.ids(question) for question in questions]
        text_ids = [self.vocabulary.ids(text) for text in texts]
        most = self.max_words
        pairs = [(question_ids[index], text) for index, text in zip(owner, text_ids, strict=True)]
        rows = [((question[:most], 0), (text[:most], 1)) for question, text in pairs]
        return concatenate(rows, [len(question) > most or len(text) > most for question, text in pairs])


@dataclass(frozen=True)
class WordLimit(TextLimit):
    """The limit of a ranker that reads this many words of a text."""

    longest: int

    def room(self, questions: Sequence[str]) -> Ints:
        return np.full(len(questions), self.longest, np.int64)

    def counts(self, texts: Sequence[str]) -> Ints:
        return np.array([len(word_tokens(text)) for text in texts], np.int64)

    def tokens(self, text: str) -> list[Span]:
        return [word.span() for word in _WORD.finditer(text)]


def padded_words(encoded: EncodedPairs, rows: Sequence[int] | Ints) -> tuple[Ints, Ints]:
    """Padded ids of questions, (rows, longest question), and of sentences, (rows, longest sentence)."""
    (questions, _), (sentences, _) = padded_sides(encoded, rows, PAD)
    return questions, sentences
