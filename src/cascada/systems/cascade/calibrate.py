"""Calibrate a ranker's scores as probabilities: fit a Platt scaling per exit and write it into the exit's head."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.core.folder import PLAN_FILE, read_card, require_no_ranker
from cascada.data import Group
from cascada.metrics.calibration import PlattScaling, fit_platt_scaling
from cascada.ranking import Ranker
from cascada.systems.cascade.folder import load, save
from cascada.systems.cascade.network import CascadeRanker


def calibrate(
    folder: Path, groups: Sequence[Group], out: Path, advance: Callable[[int], None] = lambda pairs: None
) -> dict[int, PlattScaling]:
    """Fit the scores of the ranker in `folder` to the labels and write it to `out`; returns the scaling per exit.

    No candidates are dropped, so that the scaling of every exit is fitted on all of them. The order at an exit does not
    change, and a drop plan that was tuned before is kept. `advance` is called with the number of scored candidates.
    """
    model = load(folder)  # a ranker of another kind is rejected before anything is scored
    require_no_ranker(out)
    scores, labels = _scored(Ranker.load(folder), groups, advance)
    scalings = {exit: _scaling(exit, row, labels) for exit, row in zip(model.shape.exits, scores, strict=True)}
    for exit, scaling in scalings.items():
        _apply(model, exit, scaling)
    card = read_card(folder) or "# A Cascada ranker\n"
    if (folder / PLAN_FILE).exists():
        out.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / PLAN_FILE, out)
    save(model, out, tokenizer=folder, card=f"{card.rstrip()}\n\nIts scores were calibrated afterwards.\n")
    return scalings


def _scored(
    ranker: Ranker, groups: Sequence[Group], advance: Callable[[int], None]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (exits, candidates) and labels (candidates,) of all groups."""
    groups = [group for group in groups if group.candidates]
    scores: list[NDArray[np.float32]] = [np.empty((len(ranker.stages), 0), np.float32)]
    for own in ranker.exit_scores((group.question, group.texts) for group in groups):
        scores.append(own)
        advance(own.shape[1])
    labels = np.array([label > 0 for group in groups for label in group.labels], bool)
    return np.concatenate(scores, axis=1).astype(np.float64), labels


def _scaling(exit: int, scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> PlattScaling:
    try:
        return fit_platt_scaling(scores, labels)
    except CascadaError as error:
        raise CascadaError(f"At exit {exit}: {error}") from error


def _apply(model: CascadeRanker, exit: int, scaling: PlattScaling) -> None:
    """Write a scaling into exit 0, or into the last layer of a head: the score is the second logit minus the first."""
    if exit == 0:
        model.exit_zero_scaling.mul_(scaling.scale)
        model.exit_zero_scaling[1] += scaling.shift
        return
    out: Any = model.heads[str(exit)].get_submodule("out")
    with torch.no_grad():
        out.weight *= scaling.scale
        out.bias *= scaling.scale
        out.bias[1] += scaling.shift
