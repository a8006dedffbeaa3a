"""One training run, from a recipe to a ranker's folder."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from safetensors import SafetensorError
from transformers import TrainerCallback, set_seed
from transformers.utils import logging as transformers_logging

from cascada.data import Group
from cascada.errors import CascadaError
from cascada.ranking.folder import SHAPE_FILE
from cascada.training.batches import BatchPlan
from cascada.training.card import model_card
from cascada.training.claim import claimed, first_process
from cascada.training.compare_aggregate import CompareAggregateLearner
from cascada.training.decoupled import DecoupledLearner
from cascada.training.examples import Examples
from cascada.training.history import History, history_of
from cascada.training.learner import RankerLearner
from cascada.training.marks import Marks
from cascada.training.material import measured_groups, training_groups
from cascada.training.model_settings import DecoupledSettings, ModelSettings
from cascada.training.progress import ProgressBar
from cascada.training.reader import reader_card, reader_trainer
from cascada.training.reader_settings import ReaderRecipe
from cascada.training.settings import Recipe
from cascada.training.teacher import taught_scores
from cascada.training.trainer import LearnerTrainer, RankerTrainer
from cascada.training.transformer import TransformerLearner


def train(recipe: Recipe | ReaderRecipe, console: Console | None = None) -> Path:
    """Train, or go on training, what the recipe describes; the folder of the trained ranker or reader.

    The folder holds the recipe from the start and checkpoints while training. Called again after a kill, it goes on
    from the last checkpoint and reaches what it would have reached; called again after the end, it does nothing.
    """
    console = console or Console(stderr=True)
    folder = Path(recipe.output).resolve()
    with claimed(folder, recipe):
        if not (folder / SHAPE_FILE).exists():
            train_in(folder, recipe, console)
        elif first_process():
            console.print(f"{recipe.output} is trained already.", highlight=False, soft_wrap=True)
            remove_checkpoints(folder)  # killed just before it did
    return folder


def train_in(folder: Path, recipe: Recipe | ReaderRecipe, console: Console) -> None:
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    with console.status("Reading the data and the encoder") if first_process() else nullcontext():
        trainer = prepare(recipe, folder)
    progress = ProgressBar(trainer.plan, console)
    trainer.add_callback(progress)
    with progress.bar:
        trainer.resume()
    trainer.accelerator.wait_for_everyone()  # until each has read the best checkpoint, which `finish` removes
    if first_process():
        finish(trainer, recipe, folder)
    trainer.accelerator.wait_for_everyone()


def prepare(recipe: Recipe | ReaderRecipe, folder: Path) -> LearnerTrainer:
    """Everything read and built, ready to train."""
    checkpoints = folder / "checkpoints"
    if isinstance(recipe, ReaderRecipe):
        trainer: LearnerTrainer = reader_trainer(recipe, checkpoints)
    else:
        trainer = ranker_trainer(recipe, folder, checkpoints)
    callbacks: list[TrainerCallback] = [Marks(trainer.plan), History(trainer.plan, folder)]
    for callback in callbacks:
        trainer.add_callback(callback)
    return trainer


def ranker_trainer(recipe: Recipe, folder: Path, checkpoints: Path) -> RankerTrainer:
    settings = recipe.training
    train_groups, dev = training_groups(recipe.train), measured_groups(recipe.dev, "dev")
    watch = measured_groups(recipe.watch, "watch") if recipe.watch else None
    set_seed(settings.seed)  # the new layers' first weights
    learner = learner_of(recipe, train_groups, dev + (watch or []))
    if settings.teacher:
        used = BatchPlan(learner.examples, settings).used
        taught = taught_scores(settings.teacher, train_groups, folder, used=used)
        learner.examples = replace(learner.examples, taught=taught)
    return RankerTrainer(learner, dev, settings, checkpoints, watch=watch)


def learner_of(recipe: Recipe, groups: list[Group], measured: list[Group]) -> RankerLearner:
    """A new ranker of the recipe's kind, to be trained on the groups."""
    if isinstance(recipe.model, ModelSettings):
        return TransformerLearner.of(recipe.model, recipe.training, groups)
    if isinstance(recipe.model, DecoupledSettings):
        return DecoupledLearner.of(recipe.model, recipe.training, groups)
    return CompareAggregateLearner.of(recipe.model, recipe.training, groups, measured)


def finish(trainer: LearnerTrainer, recipe: Recipe | ReaderRecipe, folder: Path) -> None:
    """Write the best model into the run's folder and remove the checkpoints."""
    history = history_of(trainer.state.log_history, trainer.plan)
    card = card_of(recipe, trainer.learner.examples, history)
    try:
        trainer.learner.save(folder, card)
    except (OSError, SafetensorError) as error:
        raise CascadaError(
            f"The trained model could not be written into {recipe.output} ({error}); "
            "its checkpoints are kept, and the same command goes on from them."
        ) from error
    remove_checkpoints(folder)


def card_of(recipe: Recipe | ReaderRecipe, examples: Examples, history: dict[str, list[dict[str, float]]]) -> str:
    if isinstance(recipe, ReaderRecipe):
        return reader_card(recipe, examples, history)
    return model_card(recipe, examples, history)


def remove_checkpoints(folder: Path) -> None:
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
