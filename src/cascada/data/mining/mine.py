"""Negatives for questions that come with their answers only."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cascada.core.errors import CascadaError
from cascada.data.group import Candidate, Group, identified
from cascada.data.mining.corpus import Corpus
from cascada.data.mining.guards import Guards, holds_answer
from cascada.text.bm25 import BM25Index
from cascada.text.words import words


@dataclass(frozen=True)
class Wanted:
    """How many negatives of each kind a question gets, as far as there are so many."""

    hard: int = 2
    """The best ones by BM25 among all sentences."""
    same: int = 1
    """Random ones from the article of a correct sentence, or from its neighbourhood."""
    other: int = 1
    """Random ones from anywhere else."""
    skip: int = 0
    """Leave out this many of the best by BM25: the most likely to be correct without anybody having said so."""
    keep_negatives: bool = False
    """Keep those that the data has; mined ones come on top."""

    def __post_init__(self) -> None:
        for name in ("hard", "same", "other", "skip"):
            if getattr(self, name) < 0:
                raise CascadaError(f"The number {name} must not be below 0; it is {getattr(self, name)}.")
        if not (self.hard or self.same or self.other or self.keep_negatives):
            raise CascadaError("Nothing to mine: hard, same and other are all 0.")


@dataclass
class Report:
    """What came of it; grows question by question."""

    negatives: Counter[str] = field(default_factory=Counter)
    """By kind: kept, hard, same, other."""
    refused: Counter[str] = field(default_factory=Counter)
    """By guard: how often one kept a sentence out."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Questions that are not in the result, by reason."""
    short: int = 0
    """Questions with fewer negatives than wanted."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "negatives": {kind: self.negatives[kind] for kind in ("kept", "hard", "same", "other")},
            "refused": {guard: self.refused[guard] for guard in ("correct", "duplicate", "answer", "evidence")},
            "left_out": {reason: self.left_out[reason] for reason in ("no correct candidate", "repeated")},
            "short": self.short,
        }


def mine(groups: Iterable[Group], wanted: Wanted | None = None, **options: Any) -> list[Group]:
    """The groups with mined negatives, all at once; see `Miner`.

    >>> mine(read("squad_sentences", root="squad", split="test"), Wanted(hard=6, same=3, other=2), seed=1)
    """
    return list(Miner(groups, wanted, **options))


class Miner:
    """Mines while it is iterated over; `report` says what came of it.

    Every candidate of the groups is a sentence that can become a negative, whatever its label; a question keeps its
    correct ones. The same data, settings and seed give the same groups on every machine. `answers` are the answer
    strings of a question's id, where they are known: no negative holds one.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        wanted: Wanted | None = None,
        *,
        guards: Guards | None = None,
        answers: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
    ) -> None:
        self.groups = list(identified(groups))
        self.wanted = wanted or Wanted()
        self.guards = guards or Guards()
        self.answers = answers or {}
        self.seed = seed
        self.corpus = Corpus(self.groups)
        self.index = BM25Index(sentence.text for sentence in self.corpus.sentences)
        self.correct = _correct_by_question(self.groups)
        self.report = Report()

    def __len__(self) -> int:
        """Of the data that goes in."""
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        self.report = Report()
        draw = random.Random(self.seed)
        seen: set[tuple[str, frozenset[str]]] = set()
        for group in self.groups:
            positives = self._known(group, label=1)
            key = (_normal(group.question), frozenset(_normal(one.text) for one in positives))
            if not positives:
                self.report.left_out["no correct candidate"] += 1
            elif key in seen:
                self.report.left_out["repeated"] += 1
            else:
                seen.add(key)
                yield self._mined(group, positives, draw)

    def _mined(self, group: Group, positives: tuple[Candidate, ...], draw: random.Random) -> Group:
        kept = self._kept(group) if self.wanted.keep_negatives else ()
        refuses = self._guarded(group, kept)
        negatives = list(kept)
        near = self._near(positives)
        for kind, wanted, numbers in (
            ("hard", self.wanted.hard, self._ranked(group)),
            ("same", self.wanted.same, _shuffled(near, draw)),
            ("other", self.wanted.other, self._elsewhere(near, draw)),
        ):
            found = self._first(wanted, numbers, refuses)
            self.report.negatives[kind] += len(found)
            negatives += found
        self.report.negatives["kept"] += len(kept)
        self.report.short += len(negatives) - len(kept) < self.wanted.hard + self.wanted.same + self.wanted.other
        candidates = [*positives, *negatives]
        draw.shuffle(candidates)  # a constant score must not look like a good one
        return replace(group, candidates=tuple(candidates))

    def _known(self, group: Group, label: int) -> tuple[Candidate, ...]:
        """What the data itself has of this label, each text once."""
        found = {one.text: self.corpus.sentence(one) for one in group.candidates if one.label == label}
        return tuple(found.values())

    def _kept(self, group: Group) -> tuple[Candidate, ...]:
        """The negatives of the data; a text that is also called correct is none."""
        correct = self.correct[_normal(group.question)]
        return tuple(one for one in self._known(group, label=0) if _normal(one.text) not in correct)

    def _ranked(self, group: Group) -> Iterator[int]:
        """By BM25, without the first `skip` that nobody calls correct; they are looked at as far as needed."""
        correct = self.correct[_normal(group.question)]
        limit = 50 + self.wanted.skip + 10 * self.wanted.hard if self.wanted.hard else 0
        skipped = 0
        for number in self.index.best(group.question, limit):
            if skipped < self.wanted.skip and _normal(self.corpus.sentences[number].text) not in correct:
                skipped += 1
            else:
                yield int(number)

    def _near(self, positives: tuple[Candidate, ...]) -> Sequence[int]:
        numbers = [self.corpus.number[one.text] for one in positives if one.text in self.corpus.number]
        members = [self.corpus.near(number) for number in numbers]
        return members[0] if len(members) == 1 else sorted({number for some in members for number in some})

    def _elsewhere(self, near: Sequence[int], draw: random.Random) -> Iterator[int]:
        excluded = frozenset(near) if self.wanted.other else frozenset()
        return (number for number in _shuffled(range(len(self.corpus)), draw) if number not in excluded)

    def _first(self, wanted: int, numbers: Iterable[int], refuses: Callable[[int], bool]) -> list[Candidate]:
        found: list[Candidate] = []
        if wanted:
            for number in numbers:
                if not refuses(number):
                    found.append(replace(self.corpus.sentences[number], label=0))
                    if len(found) == wanted:
                        break
        return found

    def _guarded(self, group: Group, kept: tuple[Candidate, ...]) -> Callable[[int], bool]:
        """Whether a sentence must not be a negative of this question; one that was taken is not taken again."""
        taken = {_normal(one.text) for one in kept}
        question = frozenset(words(group.question))
        correct = self.correct[_normal(group.question)]
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
            return "evidence" if any(repeats(bag, one, question, self.index.rarity) for one in bags) else None

        def refuses(number: int) -> bool:
            normal = _normal(self.corpus.sentences[number].text)
            if normal in taken:
                return True
            refused = reason(number, normal)
            if refused:
                self.report.refused[refused] += 1
                return True
            taken.add(normal)
            return False

        return refuses


def _correct_by_question(groups: Iterable[Group]) -> dict[str, frozenset[str]]:
    """All that is correct for a question, also where the same question is asked again elsewhere."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in groups:
        found[_normal(group.question)].update(_normal(one.text) for one in group.candidates if one.label)
    return {question: frozenset(texts) for question, texts in found.items()}


def _normal(text: str) -> str:
    return " ".join(words(text))


def _shuffled(items: Sequence[int], draw: random.Random) -> Iterator[int]:
    """Fisher and Yates' shuffle, as far as it is looked at."""
    moved: dict[int, int] = {}
    for left in range(len(items), 0, -1):
        chosen = draw.randrange(left)
        yield items[moved.get(chosen, chosen)]
        moved[chosen] = moved.get(left - 1, left - 1)
