"""Groups for a reranker: the paragraphs that a search engine retrieves, labelled by whether they contain the answer.

This is the DC-BERT paper's distant supervision: a paragraph with the answer's words in sequence is correct, whether or
not it says what was asked. Case and punctuation are ignored, because tokenised text may have lost both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group
from cascada.data.mining.guards import holds_answer
from cascada.data.open_qa.pool import Pool, PoolParagraph
from cascada.data.sample import sample
from cascada.data.spans import Paragraph, Question

Retrieve = Callable[[str], Sequence[PoolParagraph]]
"""Question → the paragraphs that a search engine retrieves for it, best first."""

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """Shares of the articles for train and dev; the rest is test."""

    train: float = 0.6
    dev: float = 0.1

    def __post_init__(self) -> None:
        if not (self.train > 0 and self.dev > 0 and self.train + self.dev < 1):
            raise CascadaError(f"The shares are {self.train} and {self.dev}: both above 0, and below 1 together.")


@dataclass
class OpenQAReport:
    """Counts of a split, updated group by group."""

    questions: int = 0
    candidates: int = 0
    correct: int = 0
    own_found: int = 0
    """Questions whose own paragraph was retrieved."""
    answerable: int = 0
    """Questions with a correct candidate."""

    def add(self, group: Group, own: str) -> None:
        """Count a group; `own` is the id of the question's own paragraph."""
        self.questions += 1
        self.candidates += len(group.candidates)
        self.correct += sum(group.labels)
        self.own_found += any(candidate.id == own for candidate in group.candidates)
        self.answerable += any(group.labels)

    def to_dict(self) -> dict[str, Any]:
        """The counts, as `cascada data openqa --json` prints them."""
        return dict(vars(self))


def split_articles(
    paragraphs: Sequence[Paragraph], shares: Shares | None = None, *, seed: int = 0
) -> dict[str, list[Paragraph]]:
    """Draw train, dev and test at random, each with articles of its own."""
    shares = shares or Shares()
    titles = list(dict.fromkeys(paragraph.title for paragraph in paragraphs))
    if len(titles) < len(SPLITS):
        raise CascadaError(f"There are {len(titles)} articles: train, dev and test need at least one each.")
    random.Random(seed).shuffle(titles)
    dev = max(1, round(shares.dev * len(titles)))
    train = min(max(1, round(shares.train * len(titles))), len(titles) - dev - 1)
    ends = dict(zip(SPLITS, (train, train + dev, len(titles)), strict=True))
    starts = dict(zip(SPLITS, (0, train, train + dev), strict=True))
    chosen = {name: set(titles[starts[name] : ends[name]]) for name in SPLITS}
    return {name: [paragraph for paragraph in paragraphs if paragraph.title in chosen[name]] for name in SPLITS}


def split_with_test(
    paragraphs: Sequence[Paragraph], test: Sequence[Paragraph], dev: float, *, seed: int = 0
) -> dict[str, list[Paragraph]]:
    """Draw train and dev by article, with a test set that is given; no question id may be in both."""
    titles = list(dict.fromkeys(paragraph.title for paragraph in paragraphs))
    if len(titles) < 2 or not 0 < dev < 1:
        raise CascadaError(f"A share of {dev} of {len(titles)} articles cannot be the dev set: train needs one, too.")
    ids = {question.id for paragraph in paragraphs for question in paragraph.questions}
    shared = next((q.id for paragraph in test for q in paragraph.questions if q.id in ids), None)
    if shared is not None:
        raise CascadaError(f"The question id {shared!r} is in the training file and in the test file.")
    random.Random(seed).shuffle(titles)
    chosen = set(titles[: min(max(1, round(dev * len(titles))), len(titles) - 1)])
    train = [paragraph for paragraph in paragraphs if paragraph.title not in chosen]
    return {"train": train, "dev": [p for p in paragraphs if p.title in chosen], "test": list(test)}


def with_questions(paragraphs: Sequence[Paragraph], count: int | None, *, seed: int = 0) -> list[Paragraph]:
    """The paragraphs with a random sample of `count` of their questions, or with all of them if it is None."""
    if count is None:
        return list(paragraphs)
    questions = [question for paragraph in paragraphs for question in paragraph.questions]
    drawn = {question.id for question in sample(questions, count, lambda question: question.text, seed=seed)}
    return [
        replace(paragraph, questions=tuple(question for question in paragraph.questions if question.id in drawn))
        for paragraph in paragraphs
    ]


def groups_of(
    paragraphs: Sequence[Paragraph], pool: Pool, retrieve: Retrieve, *, complete: bool = False
) -> Iterator[tuple[Group, str]]:
    """For each question that has an answer: its group, in the order of retrieval, and the id of its own paragraph.

    With `complete`, for training, a question's own paragraph is added at the end if it was not retrieved.
    """
    texts = {paragraph.id: paragraph.text for paragraph in pool.paragraphs}
    for question in (question for paragraph in paragraphs for question in paragraph.questions):
        own = pool.own[question.id]
        if question.answers:
            more = [PoolParagraph(own, texts[own])] if complete else []
            yield group_of(question.id, question.text, own, retrieve, more, _holds(question)), own


def group_of(
    identifier: str,
    question: str,
    own: str,
    retrieve: Retrieve,
    more: Sequence[PoolParagraph],
    holds: Callable[[str], bool],
) -> Group:
    """The paragraphs retrieved for a question, then those of `more` that were not retrieved.

    A paragraph is correct if its text `holds` the answer, or if it is the question's `own`.
    """
    paragraphs = list(retrieve(question))
    retrieved = {paragraph.id for paragraph in paragraphs}
    paragraphs += [paragraph for paragraph in more if paragraph.id not in retrieved]
    candidates = (
        Candidate(paragraph.text, int(paragraph.id == own or holds(paragraph.text)), paragraph.id)
        for paragraph in paragraphs
    )
    return Group(question, tuple(candidates), identifier)


def _holds(question: Question) -> Callable[[str], bool]:
    return lambda text: holds_answer(text, question.answer_texts)
