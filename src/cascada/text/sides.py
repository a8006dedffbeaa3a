"""Question and document as separate token sequences, each with its own special tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cascada.text.pair_arrays import Bools, EncodedPairs, Ints, PairLayout, PairTokens
from cascada.text.pairs import PairTokenizer, pool, without_context


class SideTokenizer:
    """Encodes `[CLS] question [SEP]` and `[CLS] document [SEP]`, each truncated by itself.

    A prompt may stand before every question, and another one before every document.
    """

    def __init__(self, question: PairTokenizer, document: PairTokenizer) -> None:
        self.question = question
        self.document = document
        self.pad_id = document.pad_id

    @classmethod
    def load(
        cls, folder: Path, *, question_length: int, max_length: int, pad_id: int, prompts: tuple[str, str] = ("", "")
    ) -> SideTokenizer:
        tokenizer = PairTokenizer.load(folder, max_length=max(question_length, max_length), pad_id=pad_id).tokenizer
        question, document = (
            PairTokenizer(tokenizer, max_length=length, pad_id=pad_id, before_single=prompt)
            for length, prompt in zip((question_length, max_length), prompts, strict=True)
        )
        return cls(question, document)

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """Encode `questions[owner[i]]`, as type 0, followed by `texts[i]`, as type 1.

        A text that several questions share is tokenised once.
        """
        tokens = self.tokenise(questions, texts, owner)
        encoded = PairLayout(self.question.single, self.document.single).lay_out(tokens)
        assert tokens.context is not None
        start = len(self.document.single[0])
        return replace(encoded, context=(start, tokens.context)) if tokens.context.any() else encoded

    def tokenise(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> PairTokens:
        """The first half of `encode`: token ids of each side, truncated by itself, but not laid out."""
        numbers: dict[str, int] = {}  # distinct text → its number
        document_of = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)  # (pairs,)
        ids, asked, documents = pool(self.question.token_ids(questions), self.document.token_ids(list(numbers)))
        special = [sum(map(len, side.single)) for side in (self.question, self.document)]
        context = self.document.context_lengths(list(numbers))
        context -= without_context(documents, context, np.full(len(numbers), self.document.max_length - special[1]))
        asked, documents = asked[np.asarray(owner, np.int64)], documents[document_of]
        truncated = np.zeros(len(texts), bool)
        for side, places, around in zip((self.question, self.document), (asked, documents), special, strict=True):
            room = side.max_length - around
            truncated |= places[:, 1] > room
            places[:, 1] = np.minimum(places[:, 1], room)
        return PairTokens(ids, asked, documents, truncated, sum(special), context[document_of])

    def lay_out_documents(self, tokens: PairTokens, rows: Ints) -> EncodedPairs:
        """The texts of some pairs, each encoded by itself, from what `tokenise` returned."""
        chosen = tokens.take(rows)
        return self.document.lay_out_alone(chosen.ids, chosen.texts, chosen.truncated, chosen.context)


def padded_sides(
    encoded: EncodedPairs, rows: Sequence[int] | Ints, pad_id: int
) -> tuple[tuple[Ints, Bools], tuple[Ints, Bools]]:
    """Padded ids and mask of some pairs' questions, then of their documents; each of shape (rows, longest)."""
    ids, mask, types = encoded.padded(rows, pad_id)
    questions = (mask & (types == 0)).sum(1)  # (rows,): tokens of each question
    documents = mask.sum(1) - questions
    return _cut(ids, np.zeros_like(questions), questions, pad_id), _cut(ids, questions, documents, pad_id)


def _cut(ids: Ints, starts: Ints, lengths: Ints, pad_id: int) -> tuple[Ints, Bools]:
    """From each row, `lengths` ids beginning at `starts`, padded to the longest; and the mask of those ids."""
    position = np.arange(lengths.max(initial=0))
    mask = position < lengths[:, None]
    columns = np.minimum(starts[:, None] + position, max(ids.shape[1] - 1, 0))
    return np.where(mask, np.take_along_axis(ids, columns, 1), pad_id), mask
