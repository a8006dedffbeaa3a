"""The pool of paragraphs that are searched: those that questions were asked about, and others as distractors."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cascada.core.files import atomic_write
from cascada.data import check
from cascada.data.group import Group
from cascada.data.lines import Source, records
from cascada.data.mining.corpus import article_of
from cascada.data.spans import Paragraph
from cascada.text.words import normalise


@dataclass(frozen=True, slots=True)
class PoolParagraph:
    """A paragraph of the pool."""

    id: str
    """`article/number`."""
    text: str

    @property
    def article(self) -> str:
        """Title of the paragraph's article."""
        return self.id.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class PoolSentence:
    """A sentence of the `others` of `build_pool`, and the questions that it answers."""

    article: str
    text: str
    questions: tuple[Group, ...]


@dataclass
class Pool:
    """All paragraphs, and where the answers to questions are."""

    paragraphs: list[PoolParagraph] = field(default_factory=list)
    own: dict[str, str] = field(default_factory=dict)
    """Question id → id of the paragraph it was asked about."""
    more: dict[str, Group] = field(default_factory=dict)
    """Question id → group, for the questions of `others`; their paragraphs are in `own`."""
    repeated: int = 0
    """Number of sentences of `others` that were left out because a paragraph contains them."""

    def without(self, articles: Collection[str]) -> list[PoolParagraph]:
        """The paragraphs of all other articles."""
        return [paragraph for paragraph in self.paragraphs if paragraph.article not in articles]

    def write(self, path: Source) -> None:
        """Write one {"id", "text"} per line, which `cascada index` and `cascada ask` read as documents."""
        with atomic_write(path) as file:
            for paragraph in self.paragraphs:
                file.write(json.dumps({"id": paragraph.id, "text": paragraph.text}, ensure_ascii=False) + "\n")


def build_pool(paragraphs: Sequence[Paragraph], others: Iterable[Group] = (), *, length: int = 4) -> Pool:
    """Pool the given paragraphs, and paragraphs joined from every `length` sentences of an article of `others`.

    `others` are questions with a correct sentence each, whose ids name their articles, as those of `squad_sentences`
    do. A sentence that one of the paragraphs contains is left out: the pool would have it twice.
    """
    pool = Pool()
    numbers: defaultdict[str, int] = defaultdict(int)
    for paragraph in paragraphs:
        numbers[paragraph.title] += 1
        name = f"{paragraph.title}/{numbers[paragraph.title]}"
        pool.paragraphs.append(PoolParagraph(name, paragraph.text))
        pool.own.update({question.id: name for question in paragraph.questions})
    known = " | ".join(f" {normalise(paragraph.text)} " for paragraph in paragraphs)
    articles: dict[str, list[PoolSentence]] = {}
    for sentence in _sentences(others):
        if f" {normalise(sentence.text)} " in known:
            pool.repeated += 1
        else:
            articles.setdefault(sentence.article, []).append(sentence)
    for article, sentences in articles.items():
        for start in range(0, len(sentences), length):
            numbers[article] += 1
            _add(pool, f"{article}/{numbers[article]}", sentences[start : start + length])
    return pool


def add_passages(pool: Pool, path: Source) -> int:
    """Add passages, one {"id", "text"} per line with the title as id, as distractors; return how many.

    A passage with the same words as a paragraph of the pool is left out.
    """
    numbers = Counter(paragraph.article for paragraph in pool.paragraphs)
    known = {hash(normalise(paragraph.text)) for paragraph in pool.paragraphs}
    before = len(pool.paragraphs)
    for line in records(path, "one JSON object per line, with an id and a text"):
        record = check.json_line(line)
        text = check.text_field(record, ("text",), line)
        title = "_".join((check.identifier(record.get("id"), line) or "passage").split())
        if (key := hash(normalise(text))) not in known:
            known.add(key)
            numbers[title] += 1
            pool.paragraphs.append(PoolParagraph(f"{title}/{numbers[title]}", text))
    return len(pool.paragraphs) - before


def _add(pool: Pool, name: str, sentences: Sequence[PoolSentence]) -> None:
    pool.paragraphs.append(PoolParagraph(name, " ".join(sentence.text for sentence in sentences)))
    for group in (group for sentence in sentences for group in sentence.questions):
        identifier = group.id or f"{name}-{len(pool.own)}"
        pool.own[identifier] = name
        pool.more[identifier] = group


def _sentences(groups: Iterable[Group]) -> Iterator[PoolSentence]:
    """The distinct sentences, each with all questions that it answers, in the order of the data."""
    questions_of: dict[tuple[str, str], list[Group]] = {}  # (article, text) → questions
    for group in groups:
        for candidate in group.candidates:
            if candidate.label and normalise(candidate.text):
                key = article_of(candidate.id) or "text", candidate.text
                questions_of.setdefault(key, []).append(group)
    return (PoolSentence(article, text, tuple(questions)) for (article, text), questions in questions_of.items())
