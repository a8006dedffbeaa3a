"""ASNQ's four labels (TANDA, section 4 and Table 1)."""

from __future__ import annotations

from enum import Enum

from cascada.data.group import Candidate, Group
from cascada.data.natural_questions.page import PageSentence, page_sentences
from cascada.data.natural_questions.record import Page, Record, Span


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
