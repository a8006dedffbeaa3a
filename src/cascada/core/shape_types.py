"""Check the values of a shape, which come from a file, against the types of its dataclass."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cascada.core.errors import CascadaError

LARGEST = 1 << 16
"""Upper bound of sizes and numbers of tokens; encoders have a few thousand at most. Ids may be larger."""


def check_types(shape: object) -> None:
    """Reject a value of the wrong type, an unknown choice, and a size below 0 or above `LARGEST`.

    The dataclass itself checks fields that are not numbers, texts, choices or tuples of them.
    """
    if not is_dataclass(shape):
        return
    hints = get_type_hints(type(shape))
    for field in fields(shape):
        value, hint = getattr(shape, field.name), hints[field.name]
        if not _fits(value, hint):
            raise CascadaError(f"{field.name} is {value!r}; it must be {_words(hint)}.")
        if isinstance(value, int) and value > LARGEST and not field.name.endswith("_id"):
            raise CascadaError(f"{field.name} is {value}; it must be at most {LARGEST:,}.")


def _fits(value: object, hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value in arguments
    if origin in (Union, UnionType):
        return any(_fits(value, argument) for argument in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(part, arguments[0]) for part in value)
    if hint is int:
        return type(value) is int and value >= 0
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    return not isinstance(hint, type) or isinstance(value, hint)


def _words(hint: Any) -> str:
    """The type in words: `a whole number, or null`."""
    if get_origin(hint) is Literal:
        return " or ".join(map(str, get_args(hint)))
    if get_origin(hint) in (Union, UnionType):
        return ", or ".join(map(_words, get_args(hint)))
    if get_origin(hint) is tuple:
        return "a list of whole numbers"
    return {int: "a whole number from 0", float: "a number", str: "a text", type(None): "null"}.get(hint, str(hint))
