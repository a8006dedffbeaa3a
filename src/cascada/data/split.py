"""Split a data set into training and dev questions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation

from cascada.core.errors import CascadaError
from cascada.core.shares import share_of
from cascada.data.group import Group
from cascada.text.words import normalise


def draw_dev(groups: Iterable[Group], share: float | str | Decimal, *, seed: int = 0) -> Callable[[Group], bool]:
    """Draw a share of the distinct questions, and return a test of whether a group's question was drawn.

    Questions that differ only in case and punctuation are the same, so that none is on both sides. At least one
    question is on each side. The same questions, share and seed are split alike on every machine.
    """
    questions = list(dict.fromkeys(map(_key, groups)))
    if len(questions) < 2:
        raise CascadaError(f"There are {len(questions)} distinct questions; at least two are needed to split them.")
    wanted = min(max(share_of(_checked(share), len(questions)), 1), len(questions) - 1)
    drawn = frozenset(random.Random(seed).sample(questions, wanted))
    return lambda group: _key(group) in drawn


def _key(group: Group) -> str:
    return normalise(group.question) or group.question


def _checked(share: float | str | Decimal) -> Decimal:
    try:
        exact = Decimal(str(share))
    except InvalidOperation:
        exact = Decimal(-1)
    if exact.is_nan() or not 0 < exact < 1:
        raise CascadaError(f"The share of questions for the dev set must be a number between 0 and 1, not {share}.")
    return exact
