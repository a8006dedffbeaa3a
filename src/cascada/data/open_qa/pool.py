"""The paragraphs that are searched: those that questions were asked about, and others in which to get lost."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cascada.core.files import atomic_write
from cascada.data.group import Group
from cascada.data.lines import Source
from cascada.data.mining.corpus import article_of
from cascada.data.spans import Paragraph
from cascada.text.words import words


@dataclass(frozen=True, slots=True)
class Pooled:
    """A paragraph of the pool."""

    id: str
    """`article/number`."""
    text: str

    @property
    def article(self) -> str:
        return self.id.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of other text, and the questions that it answers."""

    article: str
    text: str
    questions: tuple[Group, ...]


@dataclass
class Pool:
    """Every paragraph once."""

    paragraphs: list[Pooled] = field(default_factory=list)
    own: dict[str, str] = field(default_factory=dict)
    """Question id → the paragraph it was asked about."""
    more: dict[str, Group] = field(default_factory=dict)
    """Questions of the other text, by id; their paragraphs are in `own`."""
    repeated: int = 0
    """Sentences of the other text that were left out because a paragraph holds them."""

    def without(self, articles: Collection[str]) -> list[Pooled]:
        """The paragraphs of all other articles."""
        return [one for one in self.paragraphs if one.article not in articles]

    def write(self, path: Source) -> None:
        """A paragraph a line, {"id", "text"}: `cascada index` and `cascada ask` read it as documents."""
        with atomic_write(path) as file:
            for one in self.paragraphs:
                file.write(json.dumps({"id": one.id, "text": one.text}, ensure_ascii=False) + "\n")


def pooled(paragraphs: Sequence[Paragraph], others: Iterable[Group] = (), *, length: int = 4) -> Pool:
    """The paragraphs, and the sentences of the other groups, `length` of one article to a paragraph.

    `others` are questions with a correct sentence each, under the ids that tell the articles, as `squad_sentences` has
    them. A sentence that one of the paragraphs holds is left out: the pool would have it twice.
    """
    pool = Pool()
    numbers: defaultdict[str, int] = defaultdict(int)
    for paragraph in paragraphs:
        numbers[paragraph.title] += 1
        one = Pooled(f"{paragraph.title}/{numbers[paragraph.title]}", paragraph.text)
        pool.paragraphs.append(one)
        pool.own.update({question.id: one.id for question in paragraph.questions})
    known = " | ".join(f" {_normal(paragraph.text)} " for paragraph in paragraphs)
    articles: dict[str, list[Sentence]] = {}
    for sentence in _sentences(others):
        if f" {_normal(sentence.text)} " in known:
            pool.repeated += 1
        else:
            articles.setdefault(sentence.article, []).append(sentence)
    for article, sentences in articles.items():
        for start in range(0, len(sentences), length):
            numbers[article] += 1
            _add(pool, f"{article}/{numbers[article]}", sentences[start : start + length])
    return pool


def _add(pool: Pool, name: str, sentences: Sequence[Sentence]) -> None:
    pool.paragraphs.append(Pooled(name, " ".join(sentence.text for sentence in sentences)))
    for group in (group for sentence in sentences for group in sentence.questions):
        identifier = group.id or f"{name}-{len(pool.own)}"
        pool.own[identifier] = name
        pool.more[identifier] = group


def _sentences(groups: Iterable[Group]) -> Iterator[Sentence]:
    """Each sentence once, with all the questions that it answers, in the order of the data."""
    asked: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        for candidate in group.candidates:
            if candidate.label and words(candidate.text):
                asked.setdefault((article_of(candidate.id) or "text", candidate.text), []).append(group)
    return (Sentence(article, text, tuple(questions)) for (article, text), questions in asked.items())


def _normal(text: str) -> str:
    return " ".join(words(text))
