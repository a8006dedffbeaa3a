"""TANDA: transfer to a large general data set, then adapt to the target.

A recipe of kind `tanda` is a plan of ordinary training runs, each in its own folder under the output, so that every one
of them resumes, is found finished, and is loaded like any other. What the paper compares with is another `method`.

| method | runs for a target T |
|---|---|
| `tanda` | `transfer`, then `adapt-T` from it |
| `target` | `target-T`: fine-tuning on the target only |
| `transfer` | `transfer` only |
| `union` | `union-T`: fine-tuning on both sets put together |
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Generic, Literal

from pydantic import Field, model_validator
from rich.console import Console

from cascada.training.settings import DataSettings, Model, Recipe, Settings, Text, Training

Method = Literal["tanda", "target", "transfer", "union"]


class TransferSettings(Settings, Generic[Model, Training]):
    output: Text | None = None
    """Where the transferred checkpoint is kept, for other recipes to adapt too; under the output if not given."""
    model: Model | None = None
    """What is transferred, if it is not the very model that is adapted: a cascade serves the monolithic models that
    end at its exits, too."""
    train: DataSettings
    dev: DataSettings | None = None
    """What chooses the transferred checkpoint; the first target's dev set if not given."""
    training: Training

    @model_validator(mode="before")
    @classmethod
    def _training_has_defaults(cls, content: Any) -> Any:
        return {"training": {}, **content} if isinstance(content, dict) else content


class TargetSettings(Settings, Generic[Training]):
    train: DataSettings
    dev: DataSettings
    watch: DataSettings | None = None
    adapt: Training
    """For the step from the transferred checkpoint; the paper's rate is a twentieth of the transfer's."""
    finetune: Training | None = None
    """For the methods `target` and `union`, which start from the encoder; the transfer's settings if not given."""

    @model_validator(mode="before")
    @classmethod
    def _adapt_has_defaults(cls, content: Any) -> Any:
        return {"adapt": {}, **content} if isinstance(content, dict) else content


class TandaRecipe(Settings, Generic[Model, Training]):
    """Transfer, then adapt to one or more targets."""

    kind: Literal["tanda"]
    output: Text
    """The folder that holds the runs' folders."""
    method: Method = "tanda"
    model: Model
    transfer: TransferSettings[Model, Training]
    targets: Annotated[dict[str, TargetSettings[Training]], Field(min_length=1)]


def tanda_recipe(step: type[Recipe[Any, Any]]) -> type[TandaRecipe[Any, Any]]:
    """The TANDA recipe whose steps are runs of this recipe."""
    fields = step.model_fields
    return TandaRecipe[fields["model"].annotation, fields["training"].annotation]  # type: ignore[return-value, misc]


def steps(recipe: TandaRecipe[Any, Any]) -> Iterator[Recipe[Any, Any]]:
    """The training runs of the recipe, in order."""
    if recipe.method in ("tanda", "transfer"):
        yield transfer_step(recipe)
    if recipe.method == "transfer":
        return
    for name, target in recipe.targets.items():
        finetune = target.finetune or recipe.transfer.training
        if recipe.method == "tanda":
            start = recipe.model.model_copy(update={"encoder": transfer_step(recipe).output})
            yield _step(recipe, f"adapt-{name}", start, target.train, target, target.adapt)
        elif recipe.method == "target":
            yield _step(recipe, f"target-{name}", recipe.model, target.train, target, finetune)
        else:
            both = target.train.model_copy(update={"also": (*target.train.also, recipe.transfer.train)})
            yield _step(recipe, f"union-{name}", recipe.model, both, target, finetune)


def transfer_step(recipe: TandaRecipe[Any, Any]) -> Recipe[Any, Any]:
    first = next(iter(recipe.targets.values()))
    return _run(recipe)(
        output=recipe.transfer.output or _folder(recipe, "transfer"),
        model=recipe.transfer.model or recipe.model,
        train=recipe.transfer.train,
        dev=recipe.transfer.dev or first.dev,
        training=recipe.transfer.training,
    )


def train_tanda(recipe: TandaRecipe[Any, Any], console: Console | None = None) -> list[Path]:
    """Train all steps; one that is finished is not trained again, one that was killed goes on."""
    from cascada.training.run import train

    return [train(step, console) for step in steps(recipe)]


def _step(
    recipe: TandaRecipe[Any, Any],
    name: str,
    model: Any,
    data: DataSettings,
    target: TargetSettings[Any],
    training: Any,
) -> Recipe[Any, Any]:
    return _run(recipe)(
        output=_folder(recipe, name), model=model, train=data, dev=target.dev, watch=target.watch, training=training
    )


def _folder(recipe: TandaRecipe[Any, Any], name: str) -> str:
    return str(Path(recipe.output) / name)


def _run(recipe: TandaRecipe[Any, Any]) -> type[Recipe[Any, Any]]:
    return Recipe[type(recipe.model), type(recipe.transfer.training)]  # type: ignore[return-value, misc]
