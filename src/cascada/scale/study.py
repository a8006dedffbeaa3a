"""The training runs of a study, in parallel. If a worker dies, its run resumes from the last checkpoint."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from cascada.scale.cluster import map_unordered
from cascada.training.settings import Recipe
from cascada.training.study import Member, StudyRecipe, check_names, check_tests, members, run_study
from cascada.training.tanda import TandaRecipe, steps, transfer_step


def run_study_on_ray(study: StudyRecipe, *, cpus: float = 1) -> dict[str, Any]:
    """Train all members with `cpus` cores each, then measure and report as `run_study` does; return its results.

    The output and all paths in the recipes must be in folders that the machines share.
    """
    check_names(study)
    runs = list(members(study))
    check_tests(study, runs)
    for wave in waves(runs):
        for _ in map_unordered(partial(train_step, os.getcwd()), wave, cpus=cpus):
            pass
    return run_study(study)


def waves(runs: Iterable[Member]) -> Iterator[list[Recipe[Any, Any]]]:
    """Groups of runs that can train at the same time: first the transfers, which members may share, then the rest."""
    transfers: dict[Path, Recipe[Any, Any]] = {}
    rest: dict[Path, Recipe[Any, Any]] = {}
    for member in runs:
        recipe = member.recipe
        if not isinstance(recipe, TandaRecipe):
            rest[_folder(recipe)] = recipe
            continue
        first = _folder(transfer_step(recipe))
        for step in steps(recipe):
            (transfers if _folder(step) == first else rest)[_folder(step)] = step
    yield list(transfers.values())
    yield list(rest.values())


def train_step(folder: str, recipe: Recipe[Any, Any]) -> None:
    """Train one run; paths in its recipe are relative to `folder`, where the command was started."""
    from cascada.training.single_run import train_model

    with chdir(folder):
        train_model(recipe, Console(file=io.StringIO()))


def _folder(recipe: Any) -> Path:
    return Path(recipe.output).resolve()
