"""Groups for a reranker: what a search engine finds for a question, labelled by whether it holds the answer.

That is the DC-BERT paper's distant supervision: a paragraph with the answer's words in a row is correct, whether or not
it says what was asked. Case and punctuation make no difference, since the other text may have lost both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group
from cascada.data.mining.guards import holds_answer
from cascada.data.open_qa.pool import Pool, Pooled
from cascada.data.spans import Paragraph, Question

Retrieve = Callable[[str], Sequence[Pooled]]
"""A question to the paragraphs that a search engine finds for it, best first."""


SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """Of the articles, how many are for training and for choosing; the rest is for testing."""

    train: float = 0.6
    dev: float = 0.1

    def __post_init__(self) -> None:
        if not (self.train > 0 and self.dev > 0 and self.train + self.dev < 1):
            raise CascadaError(f"The shares are {self.train} and {self.dev}: both above 0, and below 1 together.")


@dataclass
class Report:
    """What came of a split; grows group by group."""

    questions: int = 0
    candidates: int = 0
    correct: int = 0
    own_found: int = 0
    """Questions whose own paragraph was found."""
    answerable: int = 0
    """Questions with a correct candidate."""

    def add(self, group: Group, own: str) -> None:
        self.questions += 1
        self.candidates += len(group.candidates)
        self.correct += sum(group.labels)
        self.own_found += any(candidate.id == own for candidate in group.candidates)
        self.answerable += any(group.labels)

    def as_dict(self) -> dict[str, Any]:
        return dict(vars(self))


def split_articles(
    paragraphs: Sequence[Paragraph], shares: Shares | None = None, *, seed: int = 0
) -> dict[str, list[Paragraph]]:
    """Train, dev and test, each with articles of its own, drawn by the seed."""
    shares = shares or Shares()
    titles = list(dict.fromkeys(paragraph.title for paragraph in paragraphs))
    if len(titles) < len(SPLITS):
        raise CascadaError(f"There are {len(titles)} articles: train, dev and test need one each at least.")
    random.Random(seed).shuffle(titles)
    dev = max(1, round(shares.dev * len(titles)))
    train = min(max(1, round(shares.train * len(titles))), len(titles) - dev - 1)
    ends = dict(zip(SPLITS, (train, train + dev, len(titles)), strict=True))
    starts = dict(zip(SPLITS, (0, train, train + dev), strict=True))
    chosen = {name: set(titles[starts[name] : ends[name]]) for name in SPLITS}
    return {name: [one for one in paragraphs if one.title in chosen[name]] for name in SPLITS}


def groups_of(
    paragraphs: Sequence[Paragraph], pool: Pool, retrieve: Retrieve, *, complete: bool = False
) -> Iterator[tuple[Group, str]]:
    """A group for each question that has an answer, candidates as they were found; and its own paragraph's id.

    `complete` puts a question's own paragraph last where it was not found: for training.
    """
    texts = {one.id: one.text for one in pool.paragraphs}
    for question in (question for paragraph in paragraphs for question in paragraph.questions):
        own = pool.own[question.id]
        if question.answers:
            more = [Pooled(own, texts[own])] if complete else []
            yield group_of(question.id, question.text, own, retrieve, more, _holds(question)), own


def group_of(
    identifier: str, question: str, own: str, retrieve: Retrieve, more: Sequence[Pooled], holds: Callable[[str], bool]
) -> Group:
    """What is found for a question, and of `more` what is not among it; its own paragraph is correct in any case."""
    found = list(retrieve(question))
    found += [one for one in more if one.id not in {other.id for other in found}]
    candidates = (Candidate(one.text, int(one.id == own or holds(one.text)), one.id) for one in found)
    return Group(question, tuple(candidates), identifier)


def _holds(question: Question) -> Callable[[str], bool]:
    return lambda text: holds_answer(text, question.answer_texts)
