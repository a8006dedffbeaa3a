"""Which questions count. The papers report on three versions of the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from cascada.data.group import Group
from cascada.errors import CascadaError

Mode = Literal["raw", "no-all-negative", "clean"]
MODES: tuple[Mode, ...] = get_args(Mode)


def keeps(group: Group, mode: Mode) -> bool:
    """Whether the group is part of the data in this mode.

    raw: every group. no-all-negative: at least one candidate answers (the usual training data).
    clean: moreover, at least one does not (the usual test data: elsewhere every order is perfect).
    """
    labels = group.labels
    if mode == "raw":
        return True
    return any(labels) and (mode == "no-all-negative" or not all(labels))


def select(groups: Iterable[Group], mode: Mode) -> Iterator[Group]:
    """The groups the mode keeps, as a stream."""
    checked(mode)
    return (group for group in groups if keeps(group, mode))


def checked(mode: str) -> Mode:
    """The mode of that name, or a sentence with those there are."""
    for known in MODES:
        if mode == known:
            return known
    raise CascadaError(f"There is no mode {mode!r}; the modes are {', '.join(MODES)}.")
