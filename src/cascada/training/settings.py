"""What a recipe may say. Everything is checked before anything heavy happens."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from cascada.data import Mode
from cascada.errors import CascadaError

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class Settings(BaseModel):
    """Unknown keys are refused, and nothing changes once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_setting_is_yes_or_no(cls, value: object) -> object:
        if isinstance(value, bool):  # which Python, and so pydantic, would take for 1 or 0
            raise ValueError("no setting is true or false")
        return value


class ModelSettings(Settings):
    encoder: Text
    """A folder in the hub's layout, or a hub name."""
    layers: Count | None = None
    """Cut to the first n layers; all of them if not given."""
    head: Literal["first", "mean"] = "mean"
    dropout: Share = 0.1
    """Of the head; the encoder keeps its own."""
    max_length: Annotated[int, Field(ge=8, le=8192)] = 256


class DataSettings(Settings):
    source: Text
    """A data set's name, a JSONL file, NAME:FILE or hf:ID; see `cascada.data.read`."""
    root: str | None = None
    split: str | None = None
    mode: Mode = "raw"
    questions: Count | None = None
    """Only the first so many questions."""


class BatchSettings(Settings):
    by: Literal["tokens", "questions", "pairs"] = "tokens"
    """A budget of padded tokens with pairs of like length together; whole questions; or a fixed number of pairs."""
    size: Count = 2000
    accumulate: Count = 1
    """Batches whose gradients are averaged for each update."""


class TrainingSettings(Settings):
    epochs: Count = 3
    learning_rate: Positive = 1e-4
    schedule: Literal["linear", "triangular", "constant"] = "linear"
    warmup: Annotated[float, Field(ge=0)] = 0.1
    """Updates of ramp-up; below 1, a share of all updates."""
    batch: BatchSettings = BatchSettings()
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    max_gradient: Positive = 1.0
    positive_weight: Positive | Literal["balanced"] = 1.0
    """How many times a correct pair counts; `balanced` makes both classes weigh the same."""
    negatives: Count | None = None
    """Wrong candidates per question, drawn anew each epoch; all of them if not given."""
    evaluations_per_epoch: Count = 1
    patience: Count | None = None
    """Stop after so many evaluations without a better dev MAP."""
    checkpoint_every: Count | None = None
    """Updates between checkpoints, beside the one at each evaluation."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1

    @model_validator(mode="after")
    def _triangular_needs_a_ramp(self) -> TrainingSettings:
        if self.schedule == "triangular" and self.warmup == 0:
            raise ValueError("the triangular schedule needs a warmup above 0")
        return self


class Recipe(Settings):
    kind: Literal["train"] = "train"
    output: Text
    """The folder of the run: checkpoints while it trains, the trained ranker when it is done."""
    model: ModelSettings
    train: DataSettings
    dev: DataSettings
    training: TrainingSettings = TrainingSettings()


def read_recipe(path: Path, changes: dict[str, str] | None = None) -> Recipe:
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
        _put(content, key, value)
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        raise CascadaError(f"{path}: {_sentence(error)}") from error


def _put(content: dict[str, Any], key: str, value: str) -> None:
    *parents, last = key.split(".")
    place: Any = content
    for parent in parents:
        if isinstance(place, dict) and place.get(parent) is None:
            place[parent] = {}
        place = place[parent] if isinstance(place, dict) else None
    if not isinstance(place, dict):
        raise CascadaError(f"--set {key}: {'.'.join(parents)} is not a group of settings.")
    try:
        place[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise CascadaError(f"--set {key}: {value!r} is not YAML: {_problem(error)}.") from error


def _problem(error: Exception) -> str:
    """What a parser found wrong, and where, in one line."""
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return " ".join(str(error).split())
    return f"{getattr(error, 'problem', error)} (line {mark.line + 1}, column {mark.column + 1})"


def _sentence(error: ValidationError) -> str:
    """The first thing that is wrong, by its key."""
    first = error.errors()[0]
    key = _key(first)
    if first["type"] == "extra_forbidden":
        return f"unknown key {key}{_like(key)}"
    if first["type"] == "missing":
        return f"{key} is missing."
    if first["type"] == "model_type":
        return f"{key} is {first['input']!r}: it should be a group of settings."
    messages = [one["msg"].removeprefix("Value error, ") for one in error.errors() if _key(one) == key]
    shown = f" is {first['input']!r}" if not isinstance(first["input"], dict) else ""
    return f"{key}{shown}: {' or '.join(message[0].lower() + message[1:] for message in messages)}."


def _key(error: Mapping[str, Any]) -> str:
    """Where it is, without the names pydantic gives to the parts of a union."""
    return ".".join(str(part) for part in error["loc"] if not str(part).startswith(("constrained", "literal")))


def _like(key: str) -> str:
    """The known key that was probably meant."""
    *parents, last = key.split(".")
    group: Any = Recipe
    for parent in parents:
        group = group.model_fields[parent].annotation
    close = get_close_matches(last, group.model_fields, n=1)
    return f"; did you mean {close[0]}?" if close else "."
