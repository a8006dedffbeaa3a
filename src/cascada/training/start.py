"""A recipe of any kind, carried out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cascada.training import run
from cascada.training.history import best_of, watched
from cascada.training.recipes import AnyRecipe
from cascada.training.run_folder import first_process
from cascada.training.study import StudyRecipe, run_study
from cascada.training.tanda import TandaRecipe, train_tanda


@dataclass(frozen=True)
class Trained:
    """A ranker that was trained."""

    model: str
    best: dict[str, float]
    """The dev measures of the checkpoint that was kept."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        name = watched(self.best)
        return f"{self.model}: dev {name} {self.best[name]:.4f} after epoch {self.best['epoch']:.3g}"


@dataclass(frozen=True)
class Studied:
    """A study that was carried out."""

    folder: str
    results: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return {"study": self.folder, **self.results}

    def __str__(self) -> str:
        return (Path(self.folder) / "table.md").read_text(encoding="utf-8")


def start(recipe: AnyRecipe) -> Sequence[Trained | Studied]:
    """Train, or go on training, whatever the recipe describes."""
    if isinstance(recipe, StudyRecipe):
        return [Studied(recipe.output, run_study(recipe))]
    folders = train_tanda(recipe) if isinstance(recipe, TandaRecipe) else [run.train(recipe)]
    return [_trained(folder) for folder in folders] if first_process() else []


def _trained(folder: Path) -> Trained:
    history = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    return Trained(str(folder), dict(best_of(history["dev"])))
