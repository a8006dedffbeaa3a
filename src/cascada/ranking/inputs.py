"""What a call of a ranker is given, checked: what cannot be ranked is told in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.plan import Drop, Keep, Plan
from cascada.ranking.result import Document
from cascada.ranking.stage import NO_DEADLINE, Deadline

PAIRS_AT_ONCE = 2048
"""`rank_many` runs this many pairs together: enough to fill batches of like length, little enough to hold."""


Asked = tuple[str, Sequence[Document]]


@dataclass(frozen=True)
class RankOptions:
    """How a ranking may be cut short, and how much of it is returned: what travels from a call to the executor.

    `RankOptions.of` checks what a user gave and starts the clock of the deadline.
    """

    top: int | None = None
    drop: Drop = None
    keep: Keep | None = None
    min_score: float | None = None
    deadline: Deadline = NO_DEADLINE
    plan: Plan | None = None
    """What drop and keep mean for one ranker; see `Ranker.resolved`."""

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
        """The options of a call; see `Ranker.rank`."""
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
    """From now on."""
    if milliseconds is None:
        return NO_DEADLINE
    number = isinstance(milliseconds, (int, float, np.integer, np.floating)) and not isinstance(milliseconds, bool)
    if not number or not milliseconds > 0:
        raise CascadaError(f"deadline_ms is {milliseconds!r}; it must be a number above 0.")
    return Deadline.after(float(milliseconds) / 1000)


def _checked_score(score: float | None) -> float | None:
    if score is not None and (isinstance(score, bool) or not isinstance(score, (int, float, np.number))):
        raise CascadaError(f"min_score is {score!r}; it must be a number from 0 to 1.")
    return score


def text_of(candidate: Document) -> str:
    """The text of a candidate, which is a string or has one under "text"."""
    text = candidate.get("text") if isinstance(candidate, Mapping) else candidate
    if not isinstance(text, str):
        where = 'a mapping whose "text" is ' if isinstance(candidate, Mapping) else ""
        found = type(text).__name__
        raise CascadaError(f'A candidate is {where}{found}; it must be a string or have one under "text".')
    return text


def batches_of(groups: Iterable[Asked]) -> Iterator[list[Asked]]:
    """Groups put together until they hold `PAIRS_AT_ONCE` pairs; each is checked on the way."""
    batch: list[Asked] = []
    held = 0
    for group in groups:
        batch.append(checked(group))
        held += len(batch[-1][1])
        if held >= PAIRS_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def checked(group: Asked) -> Asked:
    """The group with its candidates as they are now: a list may be changed before its ranking is asked for."""
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
    return question, tuple(candidates)
