"""What keeps a sentence that answers the question from being called a negative."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from cascada.core.errors import CascadaError
from cascada.data import check
from cascada.data.check import Entry
from cascada.data.lines import Source
from cascada.text.words import words

Words = Collection[str]


Rarity = Callable[[str], float]


@dataclass(frozen=True)
class Guards:
    """How much a negative may have in common with a correct sentence. A threshold of 1 turns its guard off.

    `jaccard`: shared words / all words of both. `containment`: shared words / words of the shorter one.
    `evidence`: the answer is in the correct sentence and not in the question; a sentence that repeats this share of the
    words that only the correct one has, weighted by how rare they are, may well hold the answer too.
    """

    jaccard: float = 0.5
    containment: float = 0.75
    evidence: float = 0.15

    def __post_init__(self) -> None:
        for name in ("jaccard", "containment", "evidence"):
            if not 0 < getattr(self, name) <= 1:
                raise CascadaError(f"The guard {name} must be over 0 and at most 1, not {getattr(self, name)}.")

    def near_duplicate(self, sentence: Words, positive: Words) -> bool:
        one, other = frozenset(sentence), frozenset(positive)
        shared = len(one & other)
        return (
            one == other
            or _exceeds(shared, len(one | other), self.jaccard)
            or _exceeds(shared, min(len(one), len(other)), self.containment)
        )

    def repeats_evidence(self, sentence: Words, positive: Words, question: Words, rarity: Rarity) -> bool:
        told = frozenset(positive) - frozenset(question)
        shared = sum(rarity(word) for word in sorted(told & frozenset(sentence)))
        return _exceeds(shared, sum(rarity(word) for word in sorted(told)), self.evidence)


def holds_answer(sentence: str, answers: Collection[str]) -> bool:
    """Whether an answer's words stand in the sentence, one after the other. An answer without words holds nowhere."""
    text = f" {' '.join(words(sentence))} "
    return any(f" {' '.join(words(answer))} " in text for answer in answers if words(answer))


def squad_answers(path: Source) -> dict[str, tuple[str, ...]]:
    """The answer strings of a SQuAD v1.1 file, by question id: for the guard against sentences that hold them."""
    return dict(_answers(path))


def _answers(path: Source) -> Iterator[tuple[str, tuple[str, ...]]]:
    where = Entry(path, "the document")
    document = check.mapping(check.json_file(path), "SQuAD data", where)
    for article in check.items(document.get("data"), 'articles under "data"', where):
        for paragraph in check.items(
            check.mapping(article, "an article", where).get("paragraphs"), "paragraphs", where
        ):
            for asked in check.items(check.mapping(paragraph, "a paragraph", where).get("qas"), "questions", where):
                question = check.mapping(asked, "a question", where)
                answers = check.items(question.get("answers"), "answers", where)
                texts = (check.one_of(check.mapping(one, "an answer", where), ("text",), where) for one in answers)
                yield str(check.identifier(question.get("id"), where)), tuple(texts)


def _exceeds(part: float, whole: float, threshold: float) -> bool:
    return threshold < 1 and whole > 0 and part / whole >= threshold
