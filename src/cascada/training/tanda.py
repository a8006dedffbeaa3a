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
from typing import Annotated, Literal

from pydantic import Field
from rich.console import Console

from cascada.training.base_settings import DataSettings, Settings, Text
from cascada.training.model_settings import ModelSettings
from cascada.training.settings import Recipe, TrainingSettings

Method = Literal["tanda", "target", "transfer", "union"]


class TransferSettings(Settings):
    output: Text | None = None
    """Where the transferred checkpoint is kept, for other recipes to adapt too; under the output if not given."""
    model: ModelSettings | None = None
    """What is transferred, if it is not the very model that is adapted: a cascade serves the monolithic models that
    end at its exits, too."""
    train: DataSettings
    dev: DataSettings | None = None
    """What chooses the transferred checkpoint; the first target's dev set if not given."""
    training: TrainingSettings = TrainingSettings()


class TargetSettings(Settings):
    train: DataSettings
    dev: DataSettings
    watch: DataSettings | None = None
    adapt: TrainingSettings = TrainingSettings()
    """For the step from the transferred checkpoint; the paper's rate is a twentieth of the transfer's."""
    finetune: TrainingSettings | None = None
    """For the methods `target` and `union`, which start from the encoder; the transfer's settings if not given."""


class TandaRecipe(Settings):
    kind: Literal["tanda"]
    output: Text
    """The folder that holds the runs' folders."""
    method: Method = "tanda"
    model: ModelSettings
    transfer: TransferSettings
    targets: Annotated[dict[str, TargetSettings], Field(min_length=1)]


def steps(recipe: TandaRecipe) -> Iterator[Recipe]:
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


def transfer_step(recipe: TandaRecipe) -> Recipe:
    first = next(iter(recipe.targets.values()))
    return Recipe(
        output=recipe.transfer.output or _folder(recipe, "transfer"),
        model=recipe.transfer.model or recipe.model,
        train=recipe.transfer.train,
        dev=recipe.transfer.dev or first.dev,
        training=recipe.transfer.training,
    )


def train_tanda(recipe: TandaRecipe, console: Console | None = None) -> list[Path]:
    """Train all steps; one that is finished is not trained again, one that was killed goes on."""
    from cascada.training.run import train

    return [train(step, console) for step in steps(recipe)]


def _step(
    recipe: TandaRecipe,
    name: str,
    model: ModelSettings,
    data: DataSettings,
    target: TargetSettings,
    training: TrainingSettings,
) -> Recipe:
    return Recipe(
        output=_folder(recipe, name), model=model, train=data, dev=target.dev, watch=target.watch, training=training
    )


def _folder(recipe: TandaRecipe, name: str) -> str:
    return str(Path(recipe.output) / name)
