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
from cascada.training.recipes import AnyRecipe, read_recipe

CHECKPOINTS = "checkpoints"
"""The folder of the checkpoints, inside that of the run."""

COMPLETE = "complete"
"""Written into a checkpoint last of all, with the number of processes: one without it was cut off half-way."""


def last_complete(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; those that were not are removed."""
    complete = []
    for checkpoint in folder.glob("checkpoint-*"):
        if (checkpoint / COMPLETE).exists():
            complete.append(checkpoint)
        else:
            shutil.rmtree(checkpoint, ignore_errors=True)
    return max(complete, key=lambda path: int(path.name.removeprefix("checkpoint-")), default=None)


def mark_complete(checkpoint: Path, *, processes: int, best: str | None) -> None:
    """Only now are the others removed, but the best one: there is a complete one at every moment."""
    (checkpoint / COMPLETE).write_text(str(processes), encoding="ascii")
    for other in checkpoint.parent.glob("checkpoint-*"):
        if other != checkpoint and str(other) != best:
            shutil.rmtree(other, ignore_errors=True)


def processes_of(checkpoint: Path) -> int:
    """How many processes trained it."""
    return int((checkpoint / COMPLETE).read_text(encoding="ascii") or 1)


RECIPE_FILE = "recipe.yaml"


def first_process() -> bool:
    """Whether this is the process that writes, of those that torchrun or accelerate started."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def claimed(folder: Path, recipe: AnyRecipe) -> Iterator[None]:
    """The folder, made if need be, with the recipe in it, and held against other runs until the end."""
    if not first_process():
        yield
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CascadaError(f"The output {recipe.output} cannot be made: {error.strerror}.") from error
    with _locked(folder, recipe):
        _write_recipe(folder, recipe)
        yield


@contextmanager
def _locked(folder: Path, recipe: AnyRecipe) -> Iterator[None]:
    """A lock that ends with the process, however that ends. Where there are none, such as on Windows, nothing."""
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
    """Write the recipe, or see that it is the one that is there."""
    path = folder / RECIPE_FILE
    if path.exists():
        if _same(path, recipe):
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


def _same(path: Path, recipe: AnyRecipe) -> bool:
    """The same settings; the output may be spelled otherwise, or have been moved."""
    try:
        return bool(read_recipe(path).model_copy(update={"output": recipe.output}) == recipe)
    except CascadaError:
        return False


def _has_results(folder: Path) -> bool:
    """Whether a run got as far as its first checkpoint; before that its settings may still be changed."""
    return (folder / SHAPE_FILE).exists() or any(folder.glob(f"{CHECKPOINTS}/checkpoint-*/{COMPLETE}"))
