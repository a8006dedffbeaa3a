"""The entry point of training: carry out a recipe of any kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cascada.training import single_run
from cascada.training.history import HISTORY_FILE, best_row, selection_measure
from cascada.training.recipes import AnyRecipe
from cascada.training.run_folder import first_process
from cascada.training.study import StudyRecipe, run_study
from cascada.training.tanda import TandaRecipe, train_tanda


@dataclass(frozen=True)
class TrainedModel:
    """The result of one training run."""

    model: str
    """The folder of the trained ranker or reader."""
    best: dict[str, float]
    """The dev measures of the checkpoint that was kept."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        name = selection_measure(self.best)
        return f"{self.model}: dev {name} {self.best[name]:.4f} after epoch {self.best['epoch']:.3g}"


@dataclass(frozen=True)
class FinishedStudy:
    """The result of a study."""

    folder: str
    results: dict[str, Any]
    """The content of its `results.json`."""

    def to_dict(self) -> dict[str, Any]:
        return {"study": self.folder, **self.results}

    def __str__(self) -> str:
        return (Path(self.folder) / "table.md").read_text(encoding="utf-8")


def train(recipe: AnyRecipe) -> Sequence[TrainedModel | FinishedStudy]:
    """Train what the recipe describes, or resume it; a TANDA recipe gives one result for each of its runs.

    Of several processes, only the first gets results.
    """
    if isinstance(recipe, StudyRecipe):
        return [FinishedStudy(recipe.output, run_study(recipe))]
    folders = train_tanda(recipe) if isinstance(recipe, TandaRecipe) else [single_run.train_model(recipe)]
    return [_trained_model(folder) for folder in folders] if first_process() else []


def _trained_model(folder: Path) -> TrainedModel:
    history = json.loads((folder / HISTORY_FILE).read_text(encoding="utf-8"))
    return TrainedModel(str(folder), dict(best_row(history["dev"])))
