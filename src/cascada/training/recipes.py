"""From a YAML file to a checked recipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from cascada.core.errors import CascadaError
from cascada.core.folder import READER, TRANSFORMER
from cascada.systems.registry import ROOMS, part
from cascada.training.settings import Recipe
from cascada.training.study import StudyRecipe
from cascada.training.tanda import tanda_recipe

AnyRecipe = Any
"""A `Recipe`, `TandaRecipe`, `StudyRecipe`, or the recipe of a reader."""


def train_recipe(kind: str = TRANSFORMER) -> type[Recipe[Any, Any]]:
    """The recipe of one training run of a kind of ranker: it accepts that kind's settings and no others."""
    settings = part(kind, "settings")
    return Recipe[settings.Model, settings.Training]  # type: ignore[name-defined]


def _train(content: dict[str, Any], where: str) -> type[AnyRecipe]:
    model = content.get("model")
    kind = model.get("kind", TRANSFORMER) if isinstance(model, Mapping) else TRANSFORMER
    if kind not in ROOMS:
        *others, last = ROOMS
        raise CascadaError(f"{where}: model: its kind should be {', '.join(others)} or {last}.")
    return train_recipe(kind)


def _tanda(content: dict[str, Any], where: str) -> type[AnyRecipe]:
    return tanda_recipe(train_recipe())


def _study(content: dict[str, Any], where: str) -> type[AnyRecipe]:
    return StudyRecipe


def _reader(content: dict[str, Any], where: str) -> type[AnyRecipe]:
    recipe: type[AnyRecipe] = part(READER, "settings").ReaderRecipe
    return recipe


KINDS: dict[str, Callable[[dict[str, Any], str], type[AnyRecipe]]] = {
    "train": _train,
    "tanda": _tanda,
    "study": _study,
    "reader": _reader,
}


def read_recipe(path: Path, changes: dict[str, str] | None = None) -> AnyRecipe:
    """Read a YAML recipe; `changes` maps dotted keys to YAML values, such as {"training.epochs": "2"}."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CascadaError(f"{path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CascadaError(f"{path} is not YAML: {_problem(error)}.") from error
    if not isinstance(content, dict):
        raise CascadaError(f"{path} is not a recipe: a recipe is a mapping with output, model, train and dev.")
    for key, value in (changes or {}).items():
        put(content, key, _yaml(key, value))
    return validated(content, str(path))


def validated(content: dict[str, Any], where: str) -> AnyRecipe:
    """The recipe that a mapping describes; a mistake is one sentence that begins with `where`."""
    kind = content.get("kind", "train")
    if not isinstance(kind, str) or kind not in KINDS:
        raise CascadaError(f"{where}: kind is {kind!r}; there are {', '.join(KINDS)}.")
    recipe = KINDS[kind](content, where)
    try:
        return recipe.model_validate(content)
    except ValidationError as error:
        raise CascadaError(f"{where}: {_sentence(error, recipe)}") from error


def put(content: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key, making the groups it goes through."""
    *parents, last = key.split(".")
    place: Any = content
    for parent in parents:
        if isinstance(place, dict) and place.get(parent) is None:
            place[parent] = {}
        place = place[parent] if isinstance(place, dict) else None
    if not isinstance(place, dict):
        raise CascadaError(f"--set {key}: {'.'.join(parents)} is not a group of settings.")
    place[last] = value


def _yaml(key: str, value: str) -> Any:
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise CascadaError(f"--set {key}: {value!r} is not YAML: {_problem(error)}.") from error


def _problem(error: Exception) -> str:
    """What a parser found wrong, and where, in one line."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    return f"{getattr(error, 'problem', error)} (line {mark.line + 1}, column {mark.column + 1})"


def _sentence(error: ValidationError, kind: type[AnyRecipe]) -> str:
    """The first thing that is wrong, by its key."""
    first = error.errors()[0]
    key = _key(first)
    if first["type"] == "extra_forbidden":
        return f"unknown key {key}{_like(first, kind)}"
    if first["type"] == "missing":
        return f"{key} is missing."
    if first["type"] == "model_type":
        return f"{key} is {first['input']!r}: it should be a group of settings."
    messages = [one["msg"].removeprefix("Value error, ") for one in error.errors() if _key(one) == key]
    told = " or ".join(message[0].lower() + message[1:].rstrip(".") for message in messages)
    if not key:
        return f"{told}."
    shown = f" is {first['input']!r}" if not isinstance(first["input"], dict) else ""
    return f"{key}{shown}: {told}."


def _key(error: Mapping[str, Any]) -> str:
    """Where it is, without the names pydantic gives to the parts of a union."""
    parts = ("constrained", "literal")
    return ".".join(str(part) for part in error["loc"] if not str(part).startswith(parts))


def _like(error: Mapping[str, Any], kind: type[AnyRecipe]) -> str:
    """The known key that was probably meant."""
    *parents, last = error["loc"]
    group: Any = kind
    for parent in parents:
        group = getattr(group, "model_fields", {}).get(parent)
        group = getattr(group, "annotation", group)
    close = get_close_matches(last, getattr(group, "model_fields", ()), n=1)
    return f"; did you mean {close[0]}?" if close else "."
