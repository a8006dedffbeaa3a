"""Checks of single arguments: a wrong value raises an error of one sentence."""

from __future__ import annotations

from math import isfinite
from typing import get_args

import numpy as np

from cascada.core.errors import CascadaError
from cascada.ranking.stage import NO_DEADLINE, Deadline


def checked_count(value: int | None, name: str) -> int | None:
    """A whole number from 1, or None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1):
        raise CascadaError(f"{name} is {value!r}; it must be a whole number from 1.")
    return value


def checked_top(top: int | None) -> int | None:
    """A whole number from 1, or None for all."""
    return checked_count(top, "top")


def deadline_of(milliseconds: float | None) -> Deadline:
    """The deadline this many milliseconds from now; None for no deadline."""
    if milliseconds is None:
        return NO_DEADLINE
    if not is_number(milliseconds) or not milliseconds > 0:
        raise CascadaError(f"deadline_ms is {milliseconds!r}; it must be a number above 0.")
    return Deadline.after(float(milliseconds) / 1000)


def checked_share(value: float | None, name: str) -> float | None:
    """A number from 0 to 1, or None. NaN fails the comparison."""
    if value is not None and (not is_number(value) or not 0 <= value <= 1):
        raise CascadaError(f"{name} is {value!r}; it must be a number from 0 to 1.")
    return value


def checked_weight(value: float | None, name: str) -> float | None:
    """A finite number from 0, or None."""
    if value is not None and (not is_number(value) or not isfinite(value) or value < 0):
        raise CascadaError(f"{name} is {value!r}; it must be a number from 0.")
    return value


def checked_choice(value: str | None, choices: object, name: str) -> None:
    """One of the strings of a `Literal`, or None."""
    if value is not None and value not in get_args(choices):
        wanted = " or ".join(f'"{choice}"' for choice in get_args(choices))
        raise CascadaError(f"{name} is {value!r}; it must be {wanted}.")


def is_number(value: object) -> bool:
    """Whether this is a number, and not a truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
