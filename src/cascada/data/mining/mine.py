"""Mine negatives for questions that have only correct sentences: by BM25, from the same article, and from elsewhere."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group, identified
from cascada.data.mining.corpus import Corpus
from cascada.data.mining.guards import Guards, holds_answer
from cascada.text.bm25 import BM25Index
from cascada.text.words import normalise, words


@dataclass(frozen=True)
class NegativeCounts:
    """How many negatives of each kind a question gets, if there are as many."""

    hard: int = 2
    """The best by BM25 among all sentences."""
    same: int = 1
    """Random sentences from the article of a correct sentence, or from its neighbourhood."""
    other: int = 1
    """Random sentences from anywhere else."""
    skip: int = 0
    """Skip this many of the best by BM25, which are the most likely to be correct without being labelled so."""
    keep_negatives: bool = False
    """Keep the negatives of the data; mined ones are added."""

    def __post_init__(self) -> None:
        for name in ("hard", "same", "other", "skip"):
            if getattr(self, name) < 0:
                raise CascadaError(f"The number {name} must not be below 0; it is {getattr(self, name)}.")
        if not (self.hard or self.same or self.other or self.keep_negatives):
            raise CascadaError("Nothing to mine: hard, same and other are all 0.")


@dataclass
class MiningReport:
    """Counts of what was mined, updated question by question."""

    negatives: Counter[str] = field(default_factory=Counter)
    """By kind: kept, hard, same, other."""
    rejected: Counter[str] = field(default_factory=Counter)
    """By guard: how often it rejected a sentence."""
    left_out: Counter[str] = field(default_factory=Counter)
    """By reason: questions that are not in the result."""
    short: int = 0
    """Questions with fewer negatives than wanted."""

    def to_dict(self) -> dict[str, Any]:
        """The counts, as `cascada data mine --json` prints them."""
        return {
            "negatives": {kind: self.negatives[kind] for kind in ("kept", "hard", "same", "other")},
            "refused": {guard: self.rejected[guard] for guard in ("correct", "duplicate", "answer", "evidence")},
            "left_out": {reason: self.left_out[reason] for reason in ("no correct candidate", "repeated")},
            "short": self.short,
        }


def mine(groups: Iterable[Group], wanted: NegativeCounts | None = None, **options: Any) -> list[Group]:
    """Return all groups with mined negatives; see `Miner`.

    mine(read("squad_sentences", root="squad", split="test"), NegativeCounts(hard=6, same=3, other=2), seed=1)
    """
    return list(Miner(groups, wanted, **options))


class Miner:
    """Yields groups with mined negatives; `report` counts them.

    Every candidate of the data, whatever its label, can become a negative of another question; a question keeps its
    correct candidates. The same data, settings and seed give the same groups on every machine. `answers` maps a
    question's id to its answers, if they are known: no negative contains one of them.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        wanted: NegativeCounts | None = None,
        *,
        guards: Guards | None = None,
        answers: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
    ) -> None:
        self.groups = list(identified(groups))
        self.wanted = wanted or NegativeCounts()
        self.guards = guards or Guards()
        self.answers = answers or {}
        self.seed = seed
        self.corpus = Corpus(self.groups)
        self.index = BM25Index(sentence.text for sentence in self.corpus.sentences)
        self.correct = _correct_by_question(self.groups)
        self.report = MiningReport()

    def __len__(self) -> int:
        """Number of questions in the data; the result may have fewer."""
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        self.report = MiningReport()
        draw = random.Random(self.seed)
        seen: set[tuple[str, frozenset[str]]] = set()
        for group in self.groups:
            positives = self._known(group, label=1)
            key = (normalise(group.question), frozenset(normalise(positive.text) for positive in positives))
            if not positives:
                self.report.left_out["no correct candidate"] += 1
            elif key in seen:
                self.report.left_out["repeated"] += 1
            else:
                seen.add(key)
                yield self._mined(group, positives, draw)

    def _mined(self, group: Group, positives: tuple[Candidate, ...], draw: random.Random) -> Group:
        kept = self._kept(group) if self.wanted.keep_negatives else ()
        rejects = self._guarded(group, kept)
        negatives = list(kept)
        near = self._near(positives)
        for kind, wanted, numbers in (
            ("hard", self.wanted.hard, self._ranked(group)),
            ("same", self.wanted.same, _shuffled(near, draw)),
            ("other", self.wanted.other, self._elsewhere(near, draw)),
        ):
            mined = self._first(wanted, numbers, rejects)
            self.report.negatives[kind] += len(mined)
            negatives += mined
        self.report.negatives["kept"] += len(kept)
        self.report.short += len(negatives) - len(kept) < self.wanted.hard + self.wanted.same + self.wanted.other
        candidates = [*positives, *negatives]
        draw.shuffle(candidates)  # otherwise a constant score would rank the correct ones first
        return replace(group, candidates=tuple(candidates))

    def _known(self, group: Group, label: int) -> tuple[Candidate, ...]:
        """The question's own candidates with this label, each text once."""
        by_text = {
            candidate.text: self.corpus.sentence(candidate)
            for candidate in group.candidates
            if candidate.label == label
        }
        return tuple(by_text.values())

    def _kept(self, group: Group) -> tuple[Candidate, ...]:
        """The question's own negatives, without texts that are also labelled correct."""
        correct = self.correct[normalise(group.question)]
        return tuple(candidate for candidate in self._known(group, label=0) if normalise(candidate.text) not in correct)

    def _ranked(self, group: Group) -> Iterator[int]:
        """Sentences by BM25 score, without the first `skip` of those that are not labelled correct."""
        correct = self.correct[normalise(group.question)]
        limit = 50 + self.wanted.skip + 10 * self.wanted.hard if self.wanted.hard else 0
        skipped = 0
        for number in self.index.best(group.question, limit):
            if skipped < self.wanted.skip and normalise(self.corpus.sentences[number].text) not in correct:
                skipped += 1
            else:
                yield int(number)

    def _near(self, positives: tuple[Candidate, ...]) -> Sequence[int]:
        numbers = [self.corpus.number[positive.text] for positive in positives if positive.text in self.corpus.number]
        members = [self.corpus.near(number) for number in numbers]
        return members[0] if len(members) == 1 else sorted({number for numbers in members for number in numbers})

    def _elsewhere(self, near: Sequence[int], draw: random.Random) -> Iterator[int]:
        excluded = frozenset(near) if self.wanted.other else frozenset()
        return (number for number in _shuffled(range(len(self.corpus)), draw) if number not in excluded)

    def _first(self, wanted: int, numbers: Iterable[int], rejects: Callable[[int], bool]) -> list[Candidate]:
        """The first `wanted` sentences that are not rejected, as negatives."""
        accepted = (number for number in numbers if not rejects(number)) if wanted else ()
        return [replace(self.corpus.sentences[number], label=0) for number in islice(accepted, wanted)]

    def _guarded(self, group: Group, kept: tuple[Candidate, ...]) -> Callable[[int], bool]:
        """A function that rejects sentences that must not be negatives of this question, or already are."""
        taken = {normalise(candidate.text) for candidate in kept}
        question = frozenset(words(group.question))
        correct = self.correct[normalise(group.question)]
        bags = [frozenset(text.split()) for text in sorted(correct)]
        answers = self.answers.get(group.id or "", ())

        def reason(number: int, normal: str) -> str | None:
            bag = self.corpus.words[number]
            if normal in correct:
                return "correct"
            if any(self.guards.near_duplicate(bag, positive) for positive in bags):
                return "duplicate"
            if holds_answer(normal, answers):
                return "answer"
            repeats = self.guards.repeats_evidence
            return "evidence" if any(repeats(bag, positive, question, self.index.idf) for positive in bags) else None

        def rejects(number: int) -> bool:
            normal = normalise(self.corpus.sentences[number].text)
            if normal in taken:
                return True
            guard = reason(number, normal)
            if guard:
                self.report.rejected[guard] += 1
                return True
            taken.add(normal)
            return False

        return rejects


def _correct_by_question(groups: Iterable[Group]) -> dict[str, frozenset[str]]:
    """Normalised question → all its correct sentences, from every group that asks it."""
    correct: defaultdict[str, set[str]] = defaultdict(set)
    for group in groups:
        positives = (candidate.text for candidate in group.candidates if candidate.label)
        correct[normalise(group.question)].update(map(normalise, positives))
    return {question: frozenset(texts) for question, texts in correct.items()}


def _shuffled(items: Sequence[int], draw: random.Random) -> Iterator[int]:
    """Yield the items in random order: a lazy Fisher-Yates shuffle."""
    moved: dict[int, int] = {}
    for left in range(len(items), 0, -1):
        chosen = draw.randrange(left)
        yield items[moved.get(chosen, chosen)]
        moved[chosen] = moved.get(left - 1, left - 1)
