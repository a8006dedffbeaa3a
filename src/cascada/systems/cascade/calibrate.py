"""Make a ranker's scores probabilities: a line for each exit, written into the exit's head."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.core.folder import PLAN_FILE, own_card, refuse_a_ranker
from cascada.data import Group
from cascada.metrics.calibration import Line, fit_line
from cascada.ranking import Ranker
from cascada.systems.cascade.folder import load, save
from cascada.systems.cascade.network import StagedRanker


def calibrate(
    folder: Path, groups: Sequence[Group], out: Path, advance: Callable[[int], None] = lambda pairs: None
) -> dict[int, Line]:
    """Write the ranker in `folder` to `out` with scores fitted to the groups' labels; the line of each exit.

    Every candidate is run to the end, so that an exit's line comes from all of them. No order at an exit
    changes, and a plan that was tuned before stays with the ranker.
    """
    model = load(folder)  # what is no transformer ranker is told before the work
    refuse_a_ranker(out)
    scores, labels = _scored(Ranker.load(folder), groups, advance)
    lines = {exit: _line(exit, row, labels) for exit, row in zip(model.shape.exits, scores, strict=True)}
    for exit, line in lines.items():
        _move(model, exit, line)
    card = own_card(folder) or "# A Cascada ranker\n"
    if (folder / PLAN_FILE).exists():
        out.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / PLAN_FILE, out)
    save(model, out, tokenizer=folder, card=f"{card.rstrip()}\n\nIts scores were calibrated afterwards.\n")
    return lines


def _scored(
    ranker: Ranker, groups: Sequence[Group], advance: Callable[[int], None]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores (exits, candidates) and labels (candidates,)."""
    groups = [group for group in groups if group.candidates]
    scores: list[NDArray[np.float32]] = [np.empty((len(ranker.stages), 0), np.float32)]
    for found in ranker.exit_scores((group.question, group.texts) for group in groups):
        scores.append(found)
        advance(found.shape[1])
    labels = np.array([label > 0 for group in groups for label in group.labels], bool)
    return np.concatenate(scores, axis=1).astype(np.float64), labels


def _line(exit: int, scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> Line:
    try:
        return fit_line(scores, labels)
    except CascadaError as error:
        raise CascadaError(f"At exit {exit}: {error}") from error


def _move(model: StagedRanker, exit: int, line: Line) -> None:
    """The score is the second logit minus the first."""
    out: Any = model.heads[str(exit)].get_submodule("out")
    with torch.no_grad():
        out.weight *= line.scale
        out.bias *= line.scale
        out.bias[1] += line.shift
