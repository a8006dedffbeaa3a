"""Label noise, to measure how robust training is to wrong labels (TANDA, Table 5)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from cascada.core.errors import CascadaError, DataError
from cascada.core.shares import share_of
from cascada.data.group import Candidate, Group


def noisy_pairs(share: float | str | Decimal, pairs: int) -> int:
    """floor(share · pairs), exactly; raise CascadaError if the share is not from 0 to 1."""
    try:
        exact = Decimal(str(share))
    except InvalidOperation:
        exact = Decimal(-1)
    if exact.is_nan() or not 0 <= exact <= 1:
        raise CascadaError(f"The share of labels to flip must be a number from 0 to 1, not {share}.")
    return share_of(exact, pairs)


def flip_labels(
    groups: Iterable[Group], share: float | str | Decimal, *, seed: int = 0, pairs: int | None = None
) -> Iterator[Group]:
    """Flip the labels of exactly floor(share · pairs) pairs; every set of that many pairs is equally likely.

    With the number of `pairs` given, groups are streamed; otherwise they are kept in memory to be counted. The same
    data, share and seed flip the same labels on every machine.
    """
    if pairs is None:
        groups = list(groups)
        pairs = sum(len(group.candidates) for group in groups)
    return _flipped(groups, noisy_pairs(share, pairs), pairs, random.Random(seed))


def _flipped(groups: Iterable[Group], wanted: int, left: int, draw: random.Random) -> Iterator[Group]:
    """Selection sampling: a pair is chosen with probability (pairs still wanted) / (pairs still to come)."""
    for group in groups:
        candidates = []
        for candidate in group.candidates:
            chosen = draw.random() * left < wanted
            candidates.append(_flip(candidate) if chosen else candidate)
            wanted -= chosen
            left -= 1
        yield replace(group, candidates=tuple(candidates))
    if left:
        raise DataError(f"The data has {abs(left)} pairs {'fewer' if left > 0 else 'more'} than `pairs` says.")


def _flip(candidate: Candidate) -> Candidate:
    """Flip the label and remove grade and relevance, which would still be the true ones."""
    if candidate.label is None:
        raise DataError(f"Only labelled data can have noisy labels; {candidate.text!r} has no label.")
    return replace(candidate, label=1 - candidate.label, grade=None, relevance=None)
