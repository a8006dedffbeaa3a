"""One training run, from a recipe to a ranker's folder."""

from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path

import yaml
from rich.console import Console
from transformers import TrainerCallback, set_seed
from transformers.utils import logging as transformers_logging

from cascada.data import Group, identified, read
from cascada.data.atomic import written
from cascada.errors import CascadaError
from cascada.models import checkpoint
from cascada.models.staged import Shape, StagedRanker
from cascada.ranking.folder import SHAPE_FILE
from cascada.text.pairs import PairTokenizer
from cascada.training.card import model_card
from cascada.training.examples import Examples
from cascada.training.history import History, history_of
from cascada.training.marks import Marks
from cascada.training.progress import ProgressBar
from cascada.training.settings import DataSettings, ModelSettings, Recipe
from cascada.training.trainer import RankerTrainer, last_complete

RECIPE_FILE = "recipe.yaml"


def train(recipe: Recipe, console: Console | None = None) -> Path:
    """Train, or go on training, what the recipe describes; the folder of the trained ranker.

    The folder holds the recipe from the start and checkpoints while training. Called again after a kill, it goes on
    from the last checkpoint and reaches what it would have reached; called again after the end, it does nothing.
    """
    console = console or Console(stderr=True)
    folder = Path(recipe.output).resolve()
    claim(folder, recipe)
    if (folder / SHAPE_FILE).exists():
        console.print(f"{recipe.output} is trained already.", highlight=False)
        return folder
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    trainer = prepare(recipe, folder, console)
    trainer.train(resume_from_checkpoint=_text(last_complete(folder / "checkpoints")))
    if trainer.is_world_process_zero():
        finish(trainer, recipe, folder)
    trainer.accelerator.wait_for_everyone()
    return folder


def claim(folder: Path, recipe: Recipe) -> None:
    """Write the recipe into its folder, or see that it is the one that is there."""
    text = yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False)
    path = folder / RECIPE_FILE
    if path.exists():
        if path.read_text(encoding="utf-8") != text:
            raise CascadaError(
                f"{recipe.output} holds a run with other settings (see its {RECIPE_FILE}): "
                "set another output, or remove the folder."
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise CascadaError(f"{recipe.output} is not empty and is not a run: set another output.")
    with written(path) as file:
        file.write(text)


def prepare(recipe: Recipe, folder: Path, console: Console) -> RankerTrainer:
    """Everything read and built, ready to train."""
    settings = recipe.training
    train_groups, dev_groups = groups_of(recipe.train, "train"), groups_of(recipe.dev, "dev")
    set_seed(settings.seed)  # the heads' first weights
    model, tokenizer = build(recipe.model)
    examples = Examples.of(train_groups, tokenizer)
    trainer = RankerTrainer(model, examples, dev_groups, tokenizer, settings, folder / "checkpoints")
    callbacks: list[TrainerCallback] = [Marks(trainer.plan), History(trainer.plan, folder)]
    for callback in (*callbacks, ProgressBar(trainer.plan, console)):
        trainer.add_callback(callback)
    return trainer


def build(settings: ModelSettings) -> tuple[StagedRanker, PairTokenizer]:
    """A new ranker on the recipe's encoder, and its tokenizer."""
    encoder = checkpoint.load_encoder(settings.encoder, layers=settings.layers)
    shape = Shape((encoder.depth,), settings.head, settings.dropout, settings.max_length)
    model = StagedRanker(encoder, shape)
    tokenizer = checkpoint.tokenizer_folder(settings.encoder)
    return model, PairTokenizer.load(tokenizer, max_length=shape.max_length, pad_id=model.pad_id)


def groups_of(settings: DataSettings, which: str) -> list[Group]:
    """The groups a recipe names, with ids."""
    groups = read(settings.source, root=settings.root, split=settings.split, mode=settings.mode)
    found = list(identified(islice(groups, settings.questions)))
    if not found:
        raise CascadaError(f"{which}: {settings.source} has no questions in mode {settings.mode}.")
    return found


def finish(trainer: RankerTrainer, recipe: Recipe, folder: Path) -> None:
    """Write the best model into the run's folder and remove the checkpoints."""
    history = history_of(trainer.state.log_history, trainer.plan)
    card = model_card(recipe, trainer.examples, history)
    checkpoint.save(
        trainer.model, folder, tokenizer=checkpoint.tokenizer_folder(recipe.model.encoder), card=card
    )
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)


def _text(path: Path | None) -> str | None:
    return str(path) if path else None
