"""Calibrate a ranker's scores as probabilities: fit a Platt scaling per exit and write it into the exit's weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cascada.core.errors import CascadaError
from cascada.core.folder import kind_of, read_card, require_no_ranker, require_trained
from cascada.data import Group
from cascada.metrics.calibration import PlattScaling, fit_platt_scaling
from cascada.ranking import Ranker
from cascada.ranking.plan_file import copy_plan
from cascada.systems.registry import part


def calibrate(
    folder: Path,
    groups: Sequence[Group],
    out: Path,
    advance: Callable[[int], None] = lambda pairs: None,
    *,
    exported: Path | None = None,
) -> dict[int, PlattScaling]:
    """Fit the scores of the ranker in `folder` to the labels and write it to `out`; returns the scaling per exit.

    No candidates are dropped, so that the scaling of every exit is fitted on all of them. The order at an exit does not
    change, and a drop plan that was tuned before is kept, with its margins scaled like the scores. `advance` is called
    with the number of scored candidates.

    With `exported`, an export of this ranker, the scaling is fitted on the export's scores, which differ from the
    ranker's where products are in 8 bits; `out` then has to be exported again.
    """
    kind = kind_of(folder)
    require_trained(folder, kind, "a trained ranker")
    room = part(kind, "folder")
    model = room.load(folder)
    if not hasattr(model, "rescale"):
        raise CascadaError(f"{folder} is a {kind} ranker; only transformers and decoupled rankers can be calibrated.")
    require_no_ranker(out)
    ranker = Ranker.load(exported or folder)
    if ranker.exits != tuple(model.shape.exits):
        raise CascadaError(f"{exported} is not an export of {folder}: they have other exits.")
    scores, labels = _scored(ranker, groups, advance)
    scalings = {exit: _scaling(exit, row, labels) for exit, row in zip(model.shape.exits, scores, strict=True)}
    for exit, scaling in scalings.items():
        model.rescale(exit, scaling.scale, scaling.shift)
    card = read_card(folder) or "# A Cascada ranker\n"
    copy_plan(folder, out, model.shape.exits, [scalings[exit].scale for exit in model.shape.exits[:-1]])
    room.save(model, out, tokenizer=folder, card=f"{card.rstrip()}\n\nIts scores were calibrated afterwards.\n")
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
