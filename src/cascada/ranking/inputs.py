"""The arguments of a ranking call, checked: input that cannot be ranked raises an error of one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypedDict

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.checks import (
    checked_choice,
    checked_count,
    checked_share,
    checked_top,
    checked_weight,
    deadline_of,
)
from cascada.ranking.long_texts import Long
from cascada.ranking.plan import Drop, Keep, Plan
from cascada.ranking.prior import PRIOR
from cascada.ranking.result import TextOrMapping
from cascada.ranking.selection import Cut
from cascada.ranking.stage import NO_DEADLINE, Deadline, Pairs
from cascada.text.context import InContext

PAIRS_AT_ONCE = 2048
"""Pairs that `rank_many` runs together: enough to fill batches of similar length, few enough to fit in memory."""

QuestionCandidates = tuple[str, Sequence[TextOrMapping]]
"""A question with its candidates."""


class CheckedGroup(NamedTuple):
    """A question with its candidates that needs no further check; a server checks requests before it queues them."""

    question: str
    candidates: tuple[TextOrMapping, ...]


class RankArguments(TypedDict, total=False):
    """The keyword arguments of `Ranker.rank`, which says what they mean. Clients and integrations pass them on."""

    top: int | None
    drop: Drop
    keep: Keep | None
    min_score: float | None
    cut: Cut | None
    deadline_ms: float | None
    long: Long | None
    max_tokens: int | None
    prior: float | bool | None
    skip_if_sure: float | None


@dataclass(frozen=True)
class RankOptions:
    """How much of a ranking is computed and returned. See `Ranker.rank` for what the options mean.

    `RankOptions.of` checks a user's values and starts the clock of the deadline.
    """

    top: int | None = None
    drop: Drop = None
    keep: Keep | None = None
    min_score: float | None = None
    deadline: Deadline = NO_DEADLINE
    plan: Plan | None = None
    """The plan that `drop` and `keep` amount to for one ranker; see `Ranker.resolved`."""
    cut: Cut | None = None
    long: Long | None = None
    max_tokens: int | None = None
    prior: float | None = None
    """The weight of the first stage; None if the call gives none, which a ranker takes as 0."""
    skip_if_sure: float | None = None

    @classmethod
    def of(
        cls,
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
        cut: Cut | None = None,
        deadline_ms: float | None = None,
        long: Long | None = None,
        max_tokens: int | None = None,
        prior: float | bool | None = None,
        skip_if_sure: float | None = None,
    ) -> RankOptions:
        """The options of a call, checked as far as they do not depend on the ranker."""
        deadline = deadline_of(deadline_ms)
        if isinstance(drop, str) and keep is None:
            if drop != "fit":
                raise CascadaError(f'drop is {drop!r}; it must be a number, a list of numbers, or "fit".')
            if deadline is NO_DEADLINE:
                raise CascadaError('drop="fit" chooses drops to meet deadline_ms, and none was given.')
        checked_choice(cut, Cut, "cut")
        checked_choice(long, Long, "long")
        return cls(
            checked_top(top),
            drop,
            keep,
            checked_share(min_score, "min_score"),
            deadline,
            cut=cut,
            long=long,
            max_tokens=checked_count(max_tokens, "max_tokens"),
            prior=_prior_weight(prior),
            skip_if_sure=checked_weight(skip_if_sure, "skip_if_sure"),
        )

    @property
    def to_run(self) -> RankOptions:
        """The options that groups in one run must share: all but the deadline and those that select the results."""
        drop = self.drop if self.plan is None else None
        return replace(self, top=None, min_score=None, cut=None, drop=drop, keep=None, deadline=NO_DEADLINE)


DEFAULT_OPTIONS = RankOptions()


def _prior_weight(prior: float | bool | None) -> float | None:
    """True stands for the default weight."""
    if isinstance(prior, bool):
        return PRIOR if prior else 0.0
    return checked_weight(prior, "prior")


def text_of(candidate: TextOrMapping) -> str:
    """The text of a candidate, which is a string, or a mapping with a string under "text"."""
    text = candidate.get("text") if isinstance(candidate, Mapping) else candidate
    if not isinstance(text, str):
        where = 'a mapping whose "text" is ' if isinstance(candidate, Mapping) else ""
        kind = type(text).__name__
        raise CascadaError(f'A candidate is {where}{kind}; it must be a string or have one under "text".')
    return text


def read_text(candidate: TextOrMapping) -> str:
    """What a ranker reads of a candidate: its text, and before it the string under "context", if there is one."""
    text = text_of(candidate)
    context = candidate.get("context") if isinstance(candidate, Mapping) else None
    if context is None:
        return text
    if not isinstance(context, str):
        raise CascadaError(f'The "context" of a candidate is {type(context).__name__}; it must be a string.')
    return InContext(text, context)


def pairs_of(groups: Sequence[CheckedGroup]) -> Pairs:
    """The candidates of all groups as the stages take them."""
    return Pairs(
        questions=[question for question, _ in groups],
        texts=[read_text(candidate) for _, candidates in groups for candidate in candidates],
        owner=np.repeat(np.arange(len(groups)), [len(candidates) for _, candidates in groups]),
    )


def batches_of(groups: Iterable[QuestionCandidates]) -> Iterator[list[CheckedGroup]]:
    """Collect groups, each of them checked, into batches of at least `PAIRS_AT_ONCE` pairs; the last may have fewer."""
    batch: list[CheckedGroup] = []
    pairs = 0
    for group in groups:
        batch.append(checked_group(group))
        pairs += len(batch[-1][1])
        if pairs >= PAIRS_AT_ONCE:
            yield batch
            batch, pairs = [], 0
    if batch:
        yield batch


def checked_group(group: QuestionCandidates) -> CheckedGroup:
    """The group with a copy of its candidates, since the caller may change the list before its ranking is computed."""
    if isinstance(group, CheckedGroup):
        return group
    try:
        question, candidates = group
    except (TypeError, ValueError):
        raise CascadaError(f"A group is {type(group).__name__}; it must be a question with its candidates.") from None
    check_question(question)
    if not is_list(candidates):
        raise CascadaError(f"The candidates are {type(candidates).__name__}; they must be a list of strings.")
    if not candidates:
        raise CascadaError("There are no candidates to rank.")
    return CheckedGroup(question, tuple(candidates))


def check_question(question: str) -> None:
    """A question is a string that is not empty."""
    if not isinstance(question, str):
        raise CascadaError(f"The question is {type(question).__name__}; it must be a string.")
    if not question.strip():
        raise CascadaError("The question is empty.")


def is_list(values: object) -> bool:
    """Whether this is a list of candidates, and not one text or mapping."""
    return isinstance(values, Sequence) and not isinstance(values, (str, bytes, Mapping))
