"""What is wrong with a recipe, in one sentence that names the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from inspect import isclass
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from cascada.core.folder import READER

RecipeClasses = Mapping[str, type[BaseModel]]
"""Kind of model → its recipe."""


def error_sentence(error: ValidationError, recipe: type[BaseModel], others: RecipeClasses) -> str:
    """Describe the first mistake; a key that only `others` know is said to be theirs."""
    first = error.errors()[0]
    key = _dotted(first)
    if first["type"] == "extra_forbidden":
        return f"unknown key {key}{_hint(first['loc'], recipe, others)}"
    if first["type"] == "missing":
        return f"{key} is missing."
    if first["type"] == "model_type":
        return f"{key} is {first['input']!r}: it should be a group of settings."
    messages = [detail["msg"].removeprefix("Value error, ") for detail in error.errors() if _dotted(detail) == key]
    reason = " or ".join(message[0].lower() + message[1:].rstrip(".") for message in messages)
    if not key:
        return f"{reason}."
    value = f" is {first['input']!r}" if not isinstance(first["input"], dict) else ""
    return f"{key}{value}: {reason}."


def field_at(recipe: type[BaseModel], path: Sequence[str | int]) -> FieldInfo | None:
    """The setting at a path of keys, such as ("training", "epochs"); None if the recipe has no such key."""
    annotation: Any = recipe
    field: FieldInfo | None = None
    for name in path:
        field, annotation = _inside(annotation, name)
    return field


def group_at(recipe: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel] | None:
    """The group of settings at a path; None if there is none."""
    annotation: Any = recipe
    for name in path:
        _, annotation = _inside(annotation, name)
    return next((option for option in _options(annotation) if isclass(option) and issubclass(option, BaseModel)), None)


def _inside(annotation: Any, name: str | int) -> tuple[FieldInfo | None, Any]:
    """The field `name` of a group and its type; of a mapping or a tuple, the type of its values."""
    for option in _options(annotation):
        if isclass(option) and issubclass(option, BaseModel) and name in option.model_fields:
            field = option.model_fields[str(name)]
            return field, field.annotation
        if get_origin(option) is dict:
            return None, get_args(option)[1]
        if get_origin(option) is tuple:
            return None, get_args(option)[0]
    return None, None


def _options(annotation: Any) -> list[Any]:
    """The members of a union, or the type itself."""
    if isclass(annotation) or get_origin(annotation) in (dict, tuple):
        return [annotation]
    return [option for member in get_args(annotation) for option in _options(member)]


def _dotted(error: Mapping[str, Any]) -> str:
    """The key of an error, without the names that pydantic gives to the members of a union."""
    members = ("constrained", "literal")
    return ".".join(str(name) for name in error["loc"] if not str(name).startswith(members))


def _hint(path: Sequence[str | int], recipe: type[BaseModel], others: RecipeClasses) -> str:
    """The kinds of models that have the key, or else a known key that is spelled alike."""
    kinds = [kind for kind, other in others.items() if field_at(other, path)]
    if kinds:
        return f"; it is for {_models(kinds)}."
    group = group_at(recipe, path[:-1])
    close = get_close_matches(str(path[-1]), group.model_fields if group else (), n=1)
    return f"; did you mean {close[0]}?" if close else "."


def _models(kinds: Sequence[str]) -> str:
    rankers = [kind for kind in kinds if kind != READER]
    parts = [f"rankers of kind {' or '.join(rankers)}"] if rankers else []
    return " and for ".join(parts + (["readers"] if READER in kinds else []))
