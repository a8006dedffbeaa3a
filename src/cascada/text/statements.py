"""The sentences of a passage, and which of them can answer a question at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from cascada.text.sentences import Sentence, sentences
from cascada.text.words import words

_TABLE_ROW = re.compile(r"\n(?=\|)")
_HEADING = re.compile(r"#{1,6}\s")
_EDITORS_NOTE = re.compile(r"(\[[^\[\]]*\][\s.,;:]*)+")
"""`[citation needed]`, `[edit]`, `[1][2]`: notes about the text, not part of it."""
_STATEMENT = re.compile(r"[.!…。！][\"'”’»)\]*_]*$")


def passage_sentences(text: str, language: str = "en") -> list[Sentence]:
    """The sentences of a passage; each row of a Markdown table, which the splitter would not separate, by itself."""
    return [
        Sentence(sentence.text, start + sentence.start, start + sentence.end)
        for start, part in _table_rows(text)
        for sentence in sentences(part, language)
    ]


def can_answer(text: str, question_words: frozenset[str]) -> bool:
    """Whether a sentence can answer a question with these words.

    Markdown headings, editors' notes and texts without words cannot, nor can a sentence that repeats words of the
    question without stating anything. Word overlap would rank these first. "Paris is the capital of France." can: it
    may be what was asked.
    """
    if _HEADING.match(text) or _EDITORS_NOTE.fullmatch(text):
        return False
    sentence_words = words(text)
    return not question_words.issuperset(sentence_words) or bool(sentence_words and _STATEMENT.search(text))


def _table_rows(text: str) -> Iterator[tuple[int, str]]:
    """The text, divided before each row of a Markdown table."""
    cuts = [0, *(row.end() for row in _TABLE_ROW.finditer(text)), len(text)]
    return ((start, text[start:end]) for start, end in pairwise(cuts))
