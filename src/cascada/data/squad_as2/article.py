"""An article of a file in SQuAD's layout: its sentences, and their labels for a question about one of its paragraphs.

The labels are ASNQ's (TANDA, Table 1) and come from the same rule. The paragraph that a question was asked about is
its long answer, and the answers that people marked are its short answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from cascada.data.group import Candidate, Group
from cascada.data.natural_questions.labels import PageSentence, grade_of
from cascada.data.natural_questions.record import Span
from cascada.data.spans import Paragraph, Question
from cascada.text.sentences import sentences
from cascada.text.words import WORD


class AskedQuestion(NamedTuple):
    """A question, and the number of the paragraph it was asked about."""

    question: Question
    paragraph: int


@dataclass(frozen=True)
class Article:
    """The paragraphs of an article. Spans count the characters of all paragraphs, one after the other."""

    title: str
    paragraphs: tuple[Paragraph, ...]

    @property
    def questions(self) -> list[AskedQuestion]:
        """The questions that have an answer, in the order of the paragraphs."""
        return [
            AskedQuestion(question, number)
            for number, paragraph in enumerate(self.paragraphs)
            for question in paragraph.questions
            if question.answers
        ]

    def spans(self) -> list[Span]:
        """Where each paragraph is."""
        ends = list(accumulate(len(paragraph.text) for paragraph in self.paragraphs))
        return [Span(end - len(paragraph.text), end) for paragraph, end in zip(self.paragraphs, ends, strict=True)]


class Sentences:
    """The sentences of an article, split once for all of its questions."""

    def __init__(self, article: Article) -> None:
        self.article = article
        self.spans = article.spans()
        parts = [
            PageSentence(part.text, Span(place.start + part.start, place.start + part.end))
            for paragraph, place in zip(article.paragraphs, self.spans, strict=True)
            for part in sentences(paragraph.text)
        ]
        self.texts = [part.text for part in parts]
        # Label 2 is a matter of words: punctuation next to a word must not hide it, as it does not in ASNQ's tokens.
        self._compared = [PageSentence(_tokens(part.text), part.span) for part in parts]

    def group(self, asked: AskedQuestion) -> Group | None:
        """The article's sentences as the question's candidates, with their labels as `grade`; only 4 is correct.

        None if no sentence holds a marked answer.
        """
        place = self.spans[asked.paragraph]
        answers = {
            Span(place.start + answer.start, place.start + answer.start + len(answer.text)): _tokens(answer.text)
            for answer in asked.question.answers
        }
        grades = [grade_of(part, (place,), answers) for part in self._compared]
        candidates = tuple(
            Candidate(text, int(grade == 4), f"{self.article.title}/{number}", grade)
            for number, (text, grade) in enumerate(zip(self.texts, grades, strict=True), 1)
        )
        return Group(asked.question.text, candidates, asked.question.id) if 4 in grades else None


def articles_of(paragraphs: Iterable[Paragraph]) -> Iterator[Article]:
    """Put the paragraphs with the same title together, in the order in which the titles first appear."""
    members: dict[str, list[Paragraph]] = {}
    for paragraph in paragraphs:
        members.setdefault(paragraph.title, []).append(paragraph)
    return (Article(title, tuple(parts)) for title, parts in members.items())


def _tokens(text: str) -> str:
    """The words in their own case with single spaces between them."""
    return " ".join(WORD.findall(text))
