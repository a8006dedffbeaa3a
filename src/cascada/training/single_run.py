"""One training run: from a recipe to the folder of a trained ranker or reader."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from safetensors import SafetensorError
from transformers import TrainerCallback
from transformers.utils import logging as transformers_logging

from cascada.core.errors import CascadaError
from cascada.core.folder import READER, SHAPE_FILE
from cascada.systems.registry import part
from cascada.training.history import HistoryWriter, history_of
from cascada.training.progress import ProgressBar
from cascada.training.recipes import AnyRecipe
from cascada.training.run_folder import CHECKPOINTS, claimed, first_process
from cascada.training.schedule import EvaluationSchedule
from cascada.training.trainer import LearnerTrainer


def train_model(recipe: AnyRecipe, console: Console | None = None) -> Path:
    """Train one model, or resume its training; returns the folder of the trained ranker or reader.

    The folder holds the recipe from the start, and checkpoints during training. A run that was killed resumes from its
    last checkpoint and ends with the same weights as an uninterrupted run. A run that is finished is left as it is.
    """
    console = console or Console(stderr=True)
    folder = Path(recipe.output).resolve()
    with claimed(folder, recipe):
        if not (folder / SHAPE_FILE).exists():
            _train_in(folder, recipe, console)
        elif first_process():
            console.print(f"{recipe.output} is already trained.", highlight=False, soft_wrap=True)
            remove_checkpoints(folder)  # in case the run was killed between `save` and this
    return folder


def _train_in(folder: Path, recipe: AnyRecipe, console: Console) -> None:
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    with console.status("Reading the data and the encoder") if first_process() else nullcontext():
        trainer = build_trainer(recipe, folder)
    progress = ProgressBar(trainer.plan, console)
    trainer.add_callback(progress)
    with progress.bar:
        trainer.resume()
    trainer.accelerator.wait_for_everyone()  # every process reads the best checkpoint before `finish` removes it
    if first_process():
        finish(trainer, recipe, folder)
    trainer.accelerator.wait_for_everyone()


def build_trainer(recipe: AnyRecipe, folder: Path) -> LearnerTrainer:
    """Read the data, build the model and return the trainer, ready to run."""
    trainer: LearnerTrainer = part(model_kind(recipe), "learner").trainer(recipe, folder)
    callbacks: list[TrainerCallback] = [EvaluationSchedule(trainer.plan), HistoryWriter(trainer.plan, folder)]
    for callback in callbacks:
        trainer.add_callback(callback)
    return trainer


def model_kind(recipe: AnyRecipe) -> str:
    """The kind of model that a recipe trains."""
    return READER if recipe.kind == READER else str(recipe.model.kind)


def finish(trainer: LearnerTrainer, recipe: AnyRecipe, folder: Path) -> None:
    """Write the best model into the run's folder and remove the checkpoints."""
    history = history_of(trainer.state.log_history, trainer.plan)
    card = part(model_kind(recipe), "learner").card(recipe, trainer.learner.examples, history)
    try:
        trainer.learner.save(folder, card)
    except (OSError, SafetensorError, CascadaError) as error:
        raise CascadaError(
            f"The trained model could not be written into {recipe.output} ({error}); "
            "its checkpoints are kept, and the same command resumes from them."
        ) from error
    remove_checkpoints(folder)


def remove_checkpoints(folder: Path) -> None:
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
