"""The folder of a training run: its recipe, its checkpoints, and the lock that lets only one run train in it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write
from cascada.core.folder import SHAPE_FILE
from cascada.training.recipes import AnyRecipe, read_saved_recipe

RECIPE_FILE = "recipe.yaml"
CHECKPOINTS = "checkpoints"
"""The folder of checkpoints, inside the run's folder."""
COMPLETE = "complete"
"""The last file written into a checkpoint; it holds the number of processes. A checkpoint without it is incomplete."""


def last_complete(folder: Path) -> Path | None:
    """The newest complete checkpoint; incomplete ones are removed."""
    complete = []
    for checkpoint in folder.glob("checkpoint-*"):
        if (checkpoint / COMPLETE).exists():
            complete.append(checkpoint)
        else:
            shutil.rmtree(checkpoint, ignore_errors=True)
    return max(complete, key=lambda path: int(path.name.removeprefix("checkpoint-")), default=None)


def mark_complete(checkpoint: Path, *, processes: int, best: str | None) -> None:
    """Mark a checkpoint as complete, then remove the others except the best: one complete checkpoint always exists."""
    (checkpoint / COMPLETE).write_text(str(processes), encoding="ascii")
    for other in checkpoint.parent.glob("checkpoint-*"):
        if other != checkpoint and str(other) != best:
            shutil.rmtree(other, ignore_errors=True)


def processes_of(checkpoint: Path) -> int:
    """The number of processes that trained a checkpoint."""
    return int((checkpoint / COMPLETE).read_text(encoding="ascii") or 1)


def first_process() -> bool:
    """Whether this process has rank 0: of those that torchrun or accelerate starts, only this one writes."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def claimed(folder: Path, recipe: AnyRecipe) -> Iterator[None]:
    """Create the run's folder, write the recipe into it, and lock it against other runs until the block ends."""
    if not first_process():
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CascadaError(f"The output {recipe.output} cannot be created: {error.strerror}.") from error
    with _locked(folder, recipe):
        _write_recipe(folder, recipe)
        yield


@contextmanager
def _locked(folder: Path, recipe: AnyRecipe) -> Iterator[None]:
    """Hold a lock that the system releases when the process ends, however it ends. Windows has no such lock."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno == errno.EWOULDBLOCK:
            os.close(handle)
            raise CascadaError(f"Another process is training in {recipe.output} right now.") from None
    try:
        yield
    finally:
        os.close(handle)


def _write_recipe(folder: Path, recipe: AnyRecipe) -> None:
    """Write the recipe, or check that the folder already has the same one."""
    path = folder / RECIPE_FILE
    if path.exists():
        if _same_settings(path, recipe):
            return
        if _has_results(folder):
            raise CascadaError(
                f"{recipe.output} holds a run with other settings (see its {RECIPE_FILE}): "
                "set another output, or remove the folder."
            )
    elif any(folder.iterdir()):
        raise CascadaError(f"{recipe.output} is not empty and is not a run: set another output.")
    with atomic_write(path) as file:
        yaml.safe_dump(recipe.model_dump(mode="json"), file, sort_keys=False)


def _same_settings(path: Path, recipe: AnyRecipe) -> bool:
    """Whether the saved settings are the recipe's; the output may differ, since a run's folder can be moved."""
    try:
        return bool(read_saved_recipe(path).model_copy(update={"output": recipe.output}) == recipe)
    except CascadaError:
        return False


def _has_results(folder: Path) -> bool:
    """Whether the run has reached its first checkpoint; before that, its settings may still be changed."""
    return (folder / SHAPE_FILE).exists() or any(folder.glob(f"{CHECKPOINTS}/checkpoint-*/{COMPLETE}"))
