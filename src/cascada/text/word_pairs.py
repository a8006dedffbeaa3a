"""Pairs of question and sentence as word ids."""

from __future__ import annotations

from collections.abc import Sequence

from cascada.text.pairs import EncodedPairs, Ints, joined
from cascada.text.sides import padded_sides
from cascada.text.vocabulary import PAD, Vocabulary


class WordPairs:
    """Lays out a question's words, as type 0, before the sentence's, as type 1; each of the two is cut by itself."""

    pad_id = PAD

    def __init__(self, vocabulary: Vocabulary, *, max_words: int) -> None:
        self.vocabulary = vocabulary
        self.max_words = max_words

    def encode(self, questions: Sequence[str], texts: Sequence[str], owner: Sequence[int] | Ints) -> EncodedPairs:
        """Encode `texts[i]` against `questions[owner[i]]`. Each question is looked up once."""
        asked = [self.vocabulary.ids(question) for question in questions]
        answered = [self.vocabulary.ids(text) for text in texts]
        most = self.max_words
        pairs = [(asked[index], text) for index, text in zip(owner, answered, strict=True)]
        rows = [((question[:most], 0), (text[:most], 1)) for question, text in pairs]
        return joined(rows, [len(question) > most or len(text) > most for question, text in pairs])


def sides(encoded: EncodedPairs, rows: Sequence[int] | Ints) -> tuple[Ints, Ints]:
    """Ids of the questions, (rows, longest question), and of the sentences, (rows, longest sentence), padded."""
    (questions, _), (sentences, _) = padded_sides(encoded, rows, PAD)
    return questions, sentences
