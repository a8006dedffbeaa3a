"""From a page's tokens to the sentences a person reads, each with its place among the tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum
from itertools import accumulate, pairwise
from typing import NamedTuple

from cascada.data.group import Candidate, Group
from cascada.data.natural_questions.record import Page, Record, Span
from cascada.text.html import BLOCKS
from cascada.text.sentences import sentences


class PageSentence(NamedTuple):
    text: str
    """Its tokens with a space between them, as ASNQ has them: `It rises 4,808 m ( 15,774 ft ) .`"""
    place: Span
    """From its first to its last token; the tags between them, such as a row's cells, lie inside."""


def page_sentences(page: Page) -> Iterator[PageSentence]:
    """Every sentence of the page, in order. Each token that is text belongs to exactly one of them."""
    for block in _blocks(page):
        yield from _split(block, page.tokens)


def _blocks(page: Page) -> Iterator[list[int]]:
    """Positions of the text tokens between one block tag and the next."""
    block: list[int] = []
    after = 0
    for position, tag in page.tags.items():
        block.extend(range(after, position))
        after = position + 1
        if tag in BLOCKS and block:
            yield block
            block = []
    block.extend(range(after, len(page.tokens)))
    if block:
        yield block


def _split(block: list[int], tokens: list[str]) -> Iterator[PageSentence]:
    words = [tokens[position] for position in block]
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    found = sentences(" ".join(words))
    # The splitter counts characters. A token belongs to the sentence it begins in, even if that ends inside of it.
    cuts = [0, *(bisect_left(starts, sentence.start) for sentence in found[1:]), len(words)]
    for first, end in pairwise(cuts):
        text = " ".join(" ".join(words[first:end]).split())
        if text:
            yield PageSentence(text, Span(block[first], block[end - 1] + 1))


class Skipped(Enum):
    """Why a question is not in ASNQ: all those that are have a sentence of label 4."""

    NO_LONG_ANSWER = "no long answer"
    YES_OR_NO = "yes or no for an answer"
    NO_SHORT_ANSWER = "no short answer"
    NO_ANSWER_SENTENCE = "no short answer within the long one"


def labelled(record: Record) -> Group | Skipped:
    """The page's sentences as the question's candidates; the label from 1 to 4 is the candidate's `grade`."""
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
    grades = ((one, _grade(one, record.long_answers, written)) for one in page_sentences(record.page))
    return tuple(Candidate(sentence.text, int(grade == 4), grade=grade) for sentence, grade in grades)


def _grade(sentence: PageSentence, long_answers: tuple[Span, ...], short_answers: dict[Span, str]) -> int:
    """1 and 2 outside of the long answer, 3 and 4 inside; 2 and 4 with a short answer.

    Outside, a short answer is a string that happens to occur. Inside, only the place that was annotated counts: the
    same words elsewhere in the long answer leave a sentence at 3.
    """
    if any(sentence.place.overlaps(answer) for answer in long_answers):
        return 4 if any(sentence.place.overlaps(answer) for answer in short_answers) else 3
    return 2 if any(_occurs(text, sentence.text) for text in short_answers.values()) else 1


def _occurs(answer: str, sentence: str) -> bool:
    """Whole tokens, capital letters as they are: `1` does not occur in `1963`."""
    return f" {answer} " in f" {sentence} "


def _text(span: Span, page: Page) -> str:
    words = (page.tokens[position] for position in range(*span) if position not in page.tags)
    return " ".join(" ".join(words).split())
