"""TANDA: transfer to a large general data set, then adapt to the target.

A recipe of kind `tanda` is a sequence of ordinary training runs, each in its own folder under the output. Each can be
resumed, is not repeated once it is finished, and is loaded like any other. The paper's baselines are other values of
`method`. A run starts from the one before through `model.encoder`: see `begin` in `systems/cascade/folder.py`.

| method | runs for a target T |
|---|---|
| `tanda` | `transfer`, then `adapt-T` from it |
| `target` | `target-T`: fine-tuning on the target only |
| `transfer` | `transfer` only |
| `union` | `union-T`: fine-tuning on the union of both sets |
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
    """The transfer step."""

    output: Text | None = None
    """The folder of the transferred ranker, which other recipes can adapt, too; under the output if not given."""
    model: Model | None = None
    """The model to transfer, if it differs from the one to adapt: monolithic models can be adapted from a cascade that
    has an exit at their last layer."""
    train: DataSettings
    dev: DataSettings | None = None
    """The data that selects the best checkpoint; the first target's dev set if not given."""
    training: Training

    @model_validator(mode="before")
    @classmethod
    def _training_has_defaults(cls, content: Any) -> Any:
        return {"training": {}, **content} if isinstance(content, dict) else content


class TargetSettings(Settings, Generic[Training]):
    """A data set to adapt to."""

    train: DataSettings
    dev: DataSettings
    watch: DataSettings | None = None
    adapt: Training
    """For the adapt step; in the paper, its learning rate is a twentieth of the transfer's."""
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
    """The folder that contains the folders of the runs."""
    method: Method = "tanda"
    model: Model
    transfer: TransferSettings[Model, Training]
    targets: Annotated[dict[str, TargetSettings[Training]], Field(min_length=1)]


def tanda_recipe(step: type[Recipe[Any, Any]]) -> type[TandaRecipe[Any, Any]]:
    """The TANDA recipe class whose steps are recipes of the class `step`."""
    fields = step.model_fields
    return TandaRecipe[fields["model"].annotation, fields["training"].annotation]  # type: ignore[return-value, misc]


def steps(recipe: TandaRecipe[Any, Any]) -> Iterator[Recipe[Any, Any]]:
    """The recipes of the training runs, in order."""
    if recipe.method in ("tanda", "transfer"):
        yield transfer_step(recipe)
    if recipe.method == "transfer":
        return
    for name, target in recipe.targets.items():
        finetune = target.finetune or recipe.transfer.training
        if recipe.method == "tanda":
            transferred = recipe.model.model_copy(update={"encoder": transfer_step(recipe).output})
            yield _step(recipe, f"adapt-{name}", transferred, target.train, target, target.adapt)
        elif recipe.method == "target":
            yield _step(recipe, f"target-{name}", recipe.model, target.train, target, finetune)
        else:
            both = target.train.model_copy(update={"also": (*target.train.also, recipe.transfer.train)})
            yield _step(recipe, f"union-{name}", recipe.model, both, target, finetune)


def transfer_step(recipe: TandaRecipe[Any, Any]) -> Recipe[Any, Any]:
    """The recipe of the transfer step."""
    first = next(iter(recipe.targets.values()))
    return _step_class(recipe)(
        output=recipe.transfer.output or _folder(recipe, "transfer"),
        model=recipe.transfer.model or recipe.model,
        train=recipe.transfer.train,
        dev=recipe.transfer.dev or first.dev,
        training=recipe.transfer.training,
    )


def train_tanda(recipe: TandaRecipe[Any, Any], console: Console | None = None) -> list[Path]:
    """Train or resume all steps; finished ones are left as they are. Returns their folders."""
    from cascada.training.single_run import train_model

    return [train_model(step, console) for step in steps(recipe)]


def _step(
    recipe: TandaRecipe[Any, Any],
    name: str,
    model: Any,
    data: DataSettings,
    target: TargetSettings[Any],
    training: Any,
) -> Recipe[Any, Any]:
    return _step_class(recipe)(
        output=_folder(recipe, name), model=model, train=data, dev=target.dev, watch=target.watch, training=training
    )


def _folder(recipe: TandaRecipe[Any, Any], name: str) -> str:
    return str(Path(recipe.output) / name)


def _step_class(recipe: TandaRecipe[Any, Any]) -> type[Recipe[Any, Any]]:
    return Recipe[type(recipe.model), type(recipe.transfer.training)]  # type: ignore[return-value, misc]
