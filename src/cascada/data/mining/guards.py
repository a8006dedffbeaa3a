"""Guards that keep a sentence that may answer the question from becoming a negative."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from cascada.core.errors import CascadaError
from cascada.data.lines import Source
from cascada.data.spans import read_paragraphs
from cascada.text.words import normalise

Words = Collection[str]


@dataclass(frozen=True)
class Guards:
    """Thresholds on what a negative may share with a correct sentence. A threshold of 1 turns its guard off.

    `jaccard`: shared words / all words of both. `containment`: shared words / words of the shorter sentence.
    `evidence`: the answer is in the correct sentence but not in the question. A sentence that repeats at least this
    share of the words that only the correct sentence has, weighted by IDF, may contain the answer too.
    """

    jaccard: float = 0.5
    containment: float = 0.75
    evidence: float = 0.15

    def __post_init__(self) -> None:
        for name in ("jaccard", "containment", "evidence"):
            if not 0 < getattr(self, name) <= 1:
                raise CascadaError(f"The guard {name} must be over 0 and at most 1, not {getattr(self, name)}.")

    def near_duplicate(self, sentence: Words, positive: Words) -> bool:
        """Whether a sentence has the same words as a correct one, or too many of them."""
        left, right = frozenset(sentence), frozenset(positive)
        shared = len(left & right)
        return (
            left == right
            or _reaches(shared, len(left | right), self.jaccard)
            or _reaches(shared, min(len(left), len(right)), self.containment)
        )

    def repeats_evidence(self, sentence: Words, positive: Words, question: Words, idf: Callable[[str], float]) -> bool:
        """Whether a sentence repeats too much of what a correct one adds to the question."""
        evidence = frozenset(positive) - frozenset(question)
        repeated = sum(idf(word) for word in sorted(evidence & frozenset(sentence)))
        return _reaches(repeated, sum(idf(word) for word in sorted(evidence)), self.evidence)


def holds_answer(sentence: str, answers: Collection[str]) -> bool:
    """Whether the sentence has the words of an answer in sequence. An answer without words is in no sentence."""
    text = f" {normalise(sentence)} "
    return any(f" {words} " in text for words in map(normalise, answers) if words)


def squad_answers(path: Source) -> dict[str, tuple[str, ...]]:
    """Question id → its answers, from a file in SQuAD's layout; `Miner` takes it as `answers`."""
    questions = (question for paragraph in read_paragraphs(path) for question in paragraph.questions)
    return {question.id: question.answer_texts for question in questions}


def _reaches(part: float, whole: float, threshold: float) -> bool:
    return threshold < 1 and whole > 0 and part / whole >= threshold
