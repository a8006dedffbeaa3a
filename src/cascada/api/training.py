"""Training from a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cascada.api.arguments import LocalPath
from cascada.core.errors import require

if TYPE_CHECKING:
    from cascada.training.train import FinishedStudy, TrainedModel


def train(
    recipe: LocalPath | Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> list[TrainedModel | FinishedStudy]:
    """Train a ranker or a reader from a recipe, or resume a run that was interrupted.

    `recipe` is the path of a YAML file, or a mapping with the same content. `changes` maps dotted keys to values that
    replace the recipe's, such as `{"training.epochs": 5}`; a string is parsed as YAML, as with `--set` on the command
    line.

    Returns one result for each run: its `model` is the folder of the trained model, and `best` the dev measures of the
    checkpoint that was kept. A study returns a single result with its table. If several processes train together, only
    the first one gets results, and the others an empty list.
    """
    for module in ("pydantic", "yaml"):
        require(module, "train", "training")
    from cascada.training.recipes import read_recipe

    settings = read_recipe(recipe if isinstance(recipe, Mapping) else Path(recipe), changes)
    for module in ("torch", "transformers", "accelerate", "pytrec_eval", "matplotlib"):
        require(module, "train", "training")
    from cascada.training.run_folder import first_process
    from cascada.training.train import train as train_recipe

    results = train_recipe(settings)
    return list(results) if first_process() else []
