"""Which sentences of passages help to answer a question: split, rank all of them together, choose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from cascada.core.errors import CascadaError
from cascada.ranking.checks import checked_count, checked_share
from cascada.ranking.inputs import check_question, is_list, text_of
from cascada.ranking.plan import Drop, Keep
from cascada.ranking.pruned import Pruned, PrunedPassage, PrunedSentence
from cascada.ranking.result import Ranking, TextOrMapping
from cascada.ranking.selection import is_likely
from cascada.text.sentences import Sentence
from cascada.text.statements import can_answer, passage_sentences
from cascada.text.words import words

RELATIVE = 0.4
"""A sentence is kept if its score is at least this share of the best one's (`benchmarks/prune.py --choose`). A relative
threshold suits easy and hard questions alike; absolute scores depend on how much a question resembles its answer."""

_PRONOUN = re.compile(
    r"(?:he|she|it|they|this|that|these|those|such|him|her|them|his|hers|its|their|theirs)\b", re.IGNORECASE
)
_LANGUAGE = re.compile(r"[a-z]{2,3}")

Place = tuple[int, int]
"""Number of a passage, and of a sentence in it."""


class PruneArguments(TypedDict, total=False):
    """The keyword arguments of `Ranker.prune`, which says what they mean. Clients pass them on."""

    min_score: float | None
    min_relative_score: float | None
    budget: int | None
    drop: Drop
    keep: Keep | None
    deadline_ms: float | None
    language: str


@dataclass(frozen=True)
class PruneOptions:
    """What is kept; see `Ranker.prune`. `PruneOptions.of` checks a user's values."""

    min_score: float = 0.0
    min_relative_score: float = RELATIVE
    budget: int | None = None

    @classmethod
    def of(
        cls, *, min_score: float | None = None, min_relative_score: float | None = None, budget: int | None = None
    ) -> PruneOptions:
        """Check a user's values. With a budget, the relative threshold applies only if it is given."""
        checked_count(budget, "budget")
        relative = checked_share(min_relative_score, "min_relative_score")
        default = RELATIVE if budget is None else 0.0
        return cls(checked_share(min_score, "min_score") or 0.0, default if relative is None else relative, budget)


@dataclass(frozen=True)
class SplitPassages:
    """The passages of a question, and those of their sentences that are ranked."""

    question: str
    passages: tuple[TextOrMapping, ...]
    sentences: tuple[list[Sentence], ...]
    """The sentences of each passage."""
    places: list[Place]
    """The place of each candidate."""
    candidates: list[TextOrMapping]

    def sentence(self, place: Place) -> Sentence:
        return self.sentences[place[0]][place[1]]


def split_passages(
    question: str, passages: Sequence[TextOrMapping], *, context: bool, language: str = "en"
) -> SplitPassages:
    """Check and split the passages.

    With `context`, a ranker reads each sentence after the one before it, and after the passage's own "context".
    """
    check_question(question)
    _check_passages(passages)
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        raise CascadaError(f"language is {language!r}; it must be a code of two or three letters.")
    sentences = tuple(passage_sentences(text_of(passage), language) for passage in passages)
    question_words = frozenset(words(question))
    places = [
        (number, place)
        for number, members in enumerate(sentences)
        for place, sentence in enumerate(members)
        if can_answer(sentence.text, question_words)
    ]
    split = SplitPassages(question, tuple(passages), sentences, places, [])
    return replace(split, candidates=[_candidate(split, place, context) for place in places])


def pruned(
    split: SplitPassages,
    ranking: Ranking | None,
    options: PruneOptions,
    tokens: Callable[[str], int],
) -> Pruned:
    """Choose sentences by the ranking of all candidates (None if there were none); `tokens` counts those of a text."""
    if ranking is None:
        return Pruned(split.question, _passages(split, {}, set()), 0.0, likely=False)
    scores = {split.places[item.index]: item.score for item in ranking}
    kept = _chosen(split, ranking, options, tokens)
    likely = None if ranking.likely is None else is_likely(ranking[0].score, options.min_score or None)
    return Pruned(split.question, _passages(split, scores, kept), ranking.relative_cost, ranking.complete, likely)


def _check_passages(passages: Sequence[TextOrMapping]) -> None:
    if not is_list(passages):
        raise CascadaError(f"The passages are {type(passages).__name__}; they must be a list of strings.")
    if not passages:
        raise CascadaError("There are no passages to prune.")
    for number, passage in enumerate(passages):
        text = passage.get("text") if isinstance(passage, Mapping) else passage
        if not isinstance(text, str):
            where = 'a mapping whose "text" is ' if isinstance(passage, Mapping) else ""
            kind = type(text).__name__
            raise CascadaError(f'Passage {number} is {where}{kind}; it must be a string or have one under "text".')
        context = passage.get("context") if isinstance(passage, Mapping) else None
        if context is not None and not isinstance(context, str):
            raise CascadaError(f'The "context" of passage {number} is {type(context).__name__}; it must be a string.')


def _candidate(split: SplitPassages, place: Place, context: bool) -> TextOrMapping:
    number, sentence = place
    text = split.sentence(place).text
    if not context:
        return text
    passage = split.passages[number]
    title = passage.get("context") if isinstance(passage, Mapping) else None
    before = split.sentence((number, sentence - 1)).text if sentence else None
    return {"text": text, "context": ": ".join(part for part in (title, before) if part)}


def _chosen(split: SplitPassages, ranking: Ranking, options: PruneOptions, tokens: Callable[[str], int]) -> set[Place]:
    """The places of the sentences that are kept, the best first as long as there is budget.

    A sentence that an exit dropped ranks behind all survivors, whatever its score there. It is kept only to fill a
    budget.
    """
    threshold = max(options.min_score, options.min_relative_score * ranking[0].score)
    stages = max(len(item.scores) for item in ranking)
    left = float("inf") if options.budget is None else options.budget
    kept: set[Place] = set()
    for item in ranking:
        if item.score < threshold or (options.budget is None and len(item.scores) < stages):
            continue
        place = split.places[item.index]
        for wanted in (_with_antecedent(split, place) - kept, {place} - kept):
            needed = 0 if options.budget is None else sum(tokens(split.sentence(member).text) for member in wanted)
            if needed <= left:
                left -= needed
                kept |= wanted
                break
    return kept


def _with_antecedent(split: SplitPassages, place: Place) -> set[Place]:
    """The sentence and, if it begins with a pronoun, the one before it, which says what the pronoun stands for."""
    number, sentence = place
    needs = sentence > 0 and _PRONOUN.match(split.sentence(place).text)
    return {place, (number, sentence - 1)} if needs else {place}


def _passages(split: SplitPassages, scores: Mapping[Place, float], kept: set[Place]) -> tuple[PrunedPassage, ...]:
    return tuple(
        PrunedPassage(
            number,
            tuple(
                PrunedSentence(*sentence, score=scores.get((number, place)), kept=(number, place) in kept)
                for place, sentence in enumerate(members)
            ),
            passage,
        )
        for number, (passage, members) in enumerate(zip(split.passages, split.sentences, strict=True))
    )
