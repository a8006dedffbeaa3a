"""ASNQ's labels: split a page into sentences, and label each by where the annotated answers are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from itertools import accumulate, pairwise
from typing import NamedTuple

from cascada.data.group import Candidate, Group
from cascada.data.natural_questions.record import Page, Record, Span
from cascada.text.html import BLOCK_TAGS
from cascada.text.sentences import sentences


class PageSentence(NamedTuple):
    text: str
    """Its tokens with spaces between them, as in ASNQ: `It rises 4,808 m ( 15,774 ft ) .`"""
    span: Span
    """From its first to its last token, including the tags between them, such as those of a row's cells."""


def page_sentences(page: Page) -> Iterator[PageSentence]:
    """Yield the sentences of a page, in order. Each token that is text belongs to exactly one of them."""
    for block in _blocks(page):
        yield from _split(block, page.tokens)


def _blocks(page: Page) -> Iterator[list[int]]:
    """Positions of the text tokens between one block tag and the next."""
    block: list[int] = []
    after = 0
    for position, tag in page.tags.items():
        block.extend(range(after, position))
        after = position + 1
        if tag in BLOCK_TAGS and block:
            yield block
            block = []
    block.extend(range(after, len(page.tokens)))
    if block:
        yield block


def _split(block: list[int], tokens: list[str]) -> Iterator[PageSentence]:
    words = [tokens[position] for position in block]
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    parts = sentences(" ".join(words))
    # The splitter counts characters. A token belongs to the sentence it begins in, even if that one ends inside it.
    cuts = [0, *(bisect_left(starts, sentence.start) for sentence in parts[1:]), len(words)]
    for first, end in pairwise(cuts):
        text = " ".join(" ".join(words[first:end]).split())
        if text:
            yield PageSentence(text, Span(block[first], block[end - 1] + 1))


class Skipped(Enum):
    """Why a question is not in ASNQ, whose questions all have a sentence of label 4."""

    NO_LONG_ANSWER = "no long answer"
    YES_OR_NO = "yes or no for an answer"
    NO_SHORT_ANSWER = "no short answer"
    NO_ANSWER_SENTENCE = "no short answer within the long one"


def labelled(record: Record) -> Group | Skipped:
    """The page's sentences as the question's candidates, with labels 1 to 4 as `grade`; or why it is skipped."""
    if not record.long_answers:
        return Skipped.NO_LONG_ANSWER
    if not record.short_answers:
        return Skipped.YES_OR_NO if record.yes_or_no else Skipped.NO_SHORT_ANSWER
    candidates = _candidates(record)
    if not any(candidate.label for candidate in candidates):
        return Skipped.NO_ANSWER_SENTENCE
    return Group(record.question, candidates, record.id)


def _candidates(record: Record) -> tuple[Candidate, ...]:
    texts = {span: _text(span, record.page) for span in record.short_answers}
    written = {span: text for span, text in texts.items() if text}
    graded = (
        (sentence.text, grade_of(sentence, record.long_answers, written)) for sentence in page_sentences(record.page)
    )
    return tuple(Candidate(text, int(grade == 4), grade=grade) for text, grade in graded)


def grade_of(sentence: PageSentence, long_answers: Collection[Span], short_answers: Mapping[Span, str]) -> int:
    """Label a sentence: 1 and 2 are outside the long answer, 3 and 4 inside it; 2 and 4 contain a short answer.

    Outside, it is enough that the short answer's words occur. Inside, only the annotated tokens count: a sentence with
    the same words elsewhere in the long answer has label 3.
    """
    if any(sentence.span.overlaps(answer) for answer in long_answers):
        return 4 if any(sentence.span.overlaps(answer) for answer in short_answers) else 3
    return 2 if any(_occurs(text, sentence.text) for text in short_answers.values()) else 1


def _occurs(answer: str, sentence: str) -> bool:
    """Whether the answer occurs as whole tokens, in the same case: `1` is not in `1963`, an empty answer nowhere."""
    return bool(answer) and f" {answer} " in f" {sentence} "


def _text(span: Span, page: Page) -> str:
    words = (page.tokens[position] for position in range(*span) if position not in page.tags)
    return " ".join(" ".join(words).split())
