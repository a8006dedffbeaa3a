"""The arguments of a ranking call, checked: input that cannot be ranked raises an error of one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Drop, Keep, Plan
from cascada.ranking.result import TextOrMapping
from cascada.ranking.stage import NO_DEADLINE, Deadline
from cascada.text.context import InContext

PAIRS_AT_ONCE = 2048
"""Pairs that `rank_many` runs together: enough to fill batches of similar length, few enough to fit in memory."""

QuestionCandidates = tuple[str, Sequence[TextOrMapping]]
"""A question with its candidates."""


class CheckedGroup(NamedTuple):
    """A question with its candidates that needs no further check; a server checks requests before it queues them."""

    question: str
    candidates: tuple[TextOrMapping, ...]


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

    @classmethod
    def of(
        cls,
        *,
        top: int | None = None,
        drop: Drop = None,
        keep: Keep | None = None,
        min_score: float | None = None,
        deadline_ms: float | None = None,
    ) -> RankOptions:
        """The options of a call, checked as far as they do not depend on the ranker."""
        deadline = deadline_of(deadline_ms)
        if isinstance(drop, str) and keep is None:
            if drop != "fit":
                raise CascadaError(f'drop is {drop!r}; it must be a number, a list of numbers, or "fit".')
            if deadline is NO_DEADLINE:
                raise CascadaError('drop="fit" chooses drops to meet deadline_ms, and none was given.')
        return cls(checked_top(top), drop, keep, _checked_score(min_score), deadline)


def checked_top(top: int | None) -> int | None:
    """A whole number from 1, or None for all."""
    if top is not None and (isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 1):
        raise CascadaError(f"top is {top!r}; it must be a whole number from 1.")
    return top


def deadline_of(milliseconds: float | None) -> Deadline:
    """The deadline this many milliseconds from now; None for no deadline."""
    if milliseconds is None:
        return NO_DEADLINE
    if not _is_number(milliseconds) or not milliseconds > 0:
        raise CascadaError(f"deadline_ms is {milliseconds!r}; it must be a number above 0.")
    return Deadline.after(float(milliseconds) / 1000)


def _checked_score(score: float | None) -> float | None:
    """A number from 0 to 1, or None. NaN fails the comparison."""
    if score is not None and (not _is_number(score) or not 0 <= score <= 1):
        raise CascadaError(f"min_score is {score!r}; it must be a number from 0 to 1.")
    return score


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


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
    if not isinstance(question, str):
        raise CascadaError(f"The question is {type(question).__name__}; it must be a string.")
    if not question.strip():
        raise CascadaError("The question is empty.")
    if isinstance(candidates, (str, bytes, Mapping)) or not isinstance(candidates, Sequence):
        raise CascadaError(f"The candidates are {type(candidates).__name__}; they must be a list of strings.")
    if not candidates:
        raise CascadaError("There are no candidates to rank.")
    return CheckedGroup(question, tuple(candidates))
