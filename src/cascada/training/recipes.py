"""From a YAML file to a checked recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from cascada.core.errors import CascadaError
from cascada.core.folder import READER, TRANSFORMER
from cascada.systems.registry import ROOMS, part
from cascada.training.recipe_errors import RecipeClasses, error_sentence, field_at
from cascada.training.settings import Recipe
from cascada.training.study import StudyRecipe
from cascada.training.tanda import tanda_recipe

AnyRecipe = Any
"""A `Recipe`, `TandaRecipe`, `StudyRecipe`, or a reader's recipe."""

KINDS = ("train", "tanda", "study", READER)
"""The kinds of recipes."""


def train_recipe(kind: str = TRANSFORMER) -> type[Recipe[Any, Any]]:
    """The recipe class of one kind of ranker: it accepts that kind's settings and no others."""
    settings = part(kind, "settings")
    return Recipe[settings.Model, settings.Training]  # type: ignore[name-defined]


def reader_recipe() -> type[BaseModel]:
    """The recipe class of a reader."""
    recipe: type[BaseModel] = part(READER, "settings").ReaderRecipe
    return recipe


def run_recipes() -> dict[str, type[BaseModel]]:
    """Kind of model → the recipe class of one training run."""
    return {**{kind: train_recipe(kind) for kind in ROOMS}, READER: reader_recipe()}


def read_recipe(source: Path | Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> AnyRecipe:
    """Read a recipe from a YAML file or a mapping.

    `changes` maps dotted keys to values, such as {"training.epochs": 2}; a string is parsed as YAML.
    """
    content = _plain(source) if isinstance(source, Mapping) else _read_mapping(source)
    for key, value in (changes or {}).items():
        set_key(content, key, _parse_value(key, value) if isinstance(value, str) else _plain(value))
    return parse_recipe(content, "The recipe" if isinstance(source, Mapping) else str(source))


def read_saved_recipe(path: Path) -> AnyRecipe:
    """Read the recipe that a run saved, perhaps with an earlier version.

    All kinds of models once had all keys. A saved key that this kind does not have is ignored if it has the default
    value that other kinds give it: it had no effect on the run.
    """
    content = _read_mapping(path)
    try:
        _recipe_class(content, str(path)).model_validate(content)
    except ValidationError as error:
        others = _recipe_classes(content)
        unknown = [detail["loc"] for detail in error.errors() if detail["type"] == "extra_forbidden"]
        for key in unknown:
            if any(_is_default(other, key, _value_at(content, key)) for other in others.values()):
                del _value_at(content, key[:-1])[key[-1]]
    return parse_recipe(content, str(path))


def parse_recipe(content: dict[str, Any], where: str) -> AnyRecipe:
    """Check a mapping and return its recipe; the sentence about a mistake begins with `where`."""
    recipe = _recipe_class(content, where)
    try:
        return recipe.model_validate(content)
    except ValidationError as error:
        raise CascadaError(f"{where}: {error_sentence(error, recipe, _recipe_classes(content))}") from error


def set_key(content: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key and create the groups on its way."""
    *parents, last = key.split(".")
    group: Any = content
    for parent in parents:
        if isinstance(group, dict) and group.get(parent) is None:
            group[parent] = {}
        group = group[parent] if isinstance(group, dict) else None
    if not isinstance(group, dict):
        raise CascadaError(f"--set {key}: {'.'.join(parents)} is not a group of settings.")
    group[last] = value


def _recipe_class(content: dict[str, Any], where: str) -> type[BaseModel]:
    kind = content.get("kind", "train")
    if kind == "train":
        return train_recipe(_ranker_kind(content, where))
    if kind == "tanda":
        return tanda_recipe(train_recipe())
    if kind == "study":
        return StudyRecipe
    if kind == READER:
        return reader_recipe()
    raise CascadaError(f"{where}: kind is {kind!r}; there are {', '.join(KINDS)}.")


def _recipe_classes(content: dict[str, Any]) -> RecipeClasses:
    """The same recipe for each kind of model."""
    if content.get("kind") == "study":
        return {}
    if content.get("kind") == "tanda":
        return {kind: tanda_recipe(train_recipe(kind)) for kind in ROOMS}
    return run_recipes()


def _ranker_kind(content: dict[str, Any], where: str) -> str:
    model = content.get("model")
    kind = model.get("kind", TRANSFORMER) if isinstance(model, Mapping) else TRANSFORMER
    if not isinstance(kind, str) or kind not in ROOMS:
        *others, last = ROOMS
        raise CascadaError(f"{where}: model.kind is {kind!r}; there are {', '.join(others)} and {last}.")
    return kind


def _read_mapping(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CascadaError(f"{path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CascadaError(f"{path} is not YAML: {_yaml_problem(error)}.") from error
    if not isinstance(content, dict):
        raise CascadaError(f"{path} is not a recipe: a recipe is a mapping with output, model, train and dev.")
    return content


def _plain(value: Any) -> Any:
    """A copy of a value that YAML could hold: nested dictionaries and lists, and paths as strings."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _parse_value(key: str, value: str) -> Any:
    try:
        return yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise CascadaError(f"--set {key}: {value!r} is not YAML: {_yaml_problem(error)}.") from error


def _yaml_problem(error: Exception) -> str:
    """The parser's message and the place in the file, in one line."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    return f"{getattr(error, 'problem', error)} (line {mark.line + 1}, column {mark.column + 1})"


def _value_at(content: Any, path: Sequence[str | int]) -> Any:
    for name in path:
        content = content[name]
    return content


def _is_default(recipe: type[BaseModel], path: Sequence[str | int], value: Any) -> bool:
    """Whether a recipe has the setting, with this value as its default."""
    field = field_at(recipe, path)
    if field is None or field.is_required():
        return False
    default = field.get_default(call_default_factory=True)
    if not isinstance(default, BaseModel):
        return bool(value == default)
    try:
        return type(default).model_validate(value) == default
    except ValidationError:
        return False
