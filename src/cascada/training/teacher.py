"""Learning from teachers: their scores of the training pairs, computed once, are soft targets beside the labels."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write_bytes
from cascada.data import Group
from cascada.data.group import data_digest
from cascada.objectives.losses import distill, distill_list
from cascada.ranking.arrays import sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Bools, Floats, Ints
from cascada.systems.load import model_digest, split_store
from cascada.training.settings import TeacherSettings

IN_THE_DATA = "data"
"""The teacher's name if the training data brings its scores."""
SCORES_FILE = "teacher.npz"
SAVE_EVERY = 60.0
"""Seconds after which scores that were computed are saved."""
POINT_TEMPERATURE, LIST_TEMPERATURE = 2.0, 0.4
TOLERANCE = 1e-3
"""How far a teacher's probability may be from the sigmoid of its raw score."""


def teacher_scores(
    settings: TeacherSettings,
    groups: Sequence[Group],
    folder: Path,
    advance: Callable[[int], object] = lambda pairs: None,
    *,
    used: Bools | None = None,
) -> Floats:
    """The teachers' scores of all pairs, (pairs,), in the order of the groups.

    At point level these are a teacher's raw scores. At list level they are the weighted mean of the teachers' scores,
    each standardised within its question. Scores are cached in `folder` as they are computed, so that a run that was
    stopped continues. Only pairs that are `used`, (pairs,), are scored; the others have the score 0.
    """
    sizes = [len(group.candidates) for group in groups]
    used = np.ones(sum(sizes), bool) if used is None else used
    owner = np.repeat(np.arange(len(groups)), sizes)
    mean = np.zeros(len(used), np.float32)
    total = sum(settings.models.values())
    for number, (model, weight) in enumerate(settings.models.items()):
        name = SCORES_FILE if number == 0 else f"teacher-{number + 1}.npz"
        if model == IN_THE_DATA:
            scores = _given_scores(groups, used)
        else:
            points = settings.level == "point"
            scores = _cached_scores(model, groups, folder / name, advance, used, probabilities=points)
        mean += weight / total * (scores if settings.level == "point" else standardised(scores, owner, used))
    return mean


def standardised(scores: Floats, owner: Ints, used: Bools) -> Floats:
    """Scores with mean 0 and standard deviation 1 among the used pairs of each question; 0 for the other pairs."""
    groups = int(owner.max(initial=-1)) + 1
    count = np.maximum(np.bincount(owner, used, groups), 1)
    centred = np.where(used, scores - (np.bincount(owner, scores * used, groups) / count)[owner], 0)
    deviation = np.sqrt(np.bincount(owner, centred**2, groups) / count)
    return (centred / np.maximum(deviation, 1e-6)[owner]).astype(np.float32)


def add_teacher_loss(
    loss: Tensor,
    logits: Tensor,
    scores: Tensor | None,
    settings: TeacherSettings | None,
    *,
    labels: Tensor,
    owner: Tensor,
) -> Tensor:
    """Mix the loss with the distillation of the teachers' `scores`, (pairs,), into the logits, (pairs, 2).

    Without a teacher the loss is returned as it is.
    """
    if scores is None or settings is None:
        return loss
    if settings.level == "list":
        target = (scores + settings.bonus * labels) / (settings.temperature or LIST_TEMPERATURE)
        distance = distill_list(logits[:, 1] - logits[:, 0], target, owner)
    else:
        teacher = torch.stack((torch.zeros_like(scores), scores), -1)  # (pairs, 2): a raw score is a logit difference
        distance = distill(logits, teacher, temperature=settings.temperature or POINT_TEMPERATURE)
    return (1 - settings.share) * loss + settings.share * distance


def _given_scores(groups: Sequence[Group], used: Bools) -> Floats:
    """The scores that the data brings, (pairs,); 0 for pairs that are not used."""
    given = [candidate.score for group in groups for candidate in group.candidates]
    if missing := sum(score is None for score, is_used in zip(given, used, strict=True) if is_used):
        raise CascadaError(
            f"training.teacher.model is {IN_THE_DATA!r}, but "
            f"{missing:,} of {int(used.sum()):,} candidates have no score."
        )
    return np.array([score or 0.0 for score in given], np.float32)


def _cached_scores(
    model: str,
    groups: Sequence[Group],
    path: Path,
    advance: Callable[[int], object],
    used: Bools,
    *,
    probabilities: bool,
) -> Floats:
    """One teacher's raw scores of the used pairs, (pairs,); read from the file as far as it has them."""
    pairs = hashlib.sha256(used.tobytes()).hexdigest()
    name, store = split_store(model)
    digest, precision = model_digest(name, store), "bfloat16" if in_bfloat16() else "float32"
    identity = json.dumps({"model": digest, "data": data_digest(groups), "pairs": pairs, "precision": precision})
    scores = np.where(used, np.nan, 0).astype(np.float32)
    if path.exists():
        cached = np.load(path)
        if str(cached["about"]) == identity:
            scores = cached["scores"]
    missing = np.isnan(scores)
    if not missing.any():
        return scores
    ranker = Ranker.load(name, store=store)
    rows = np.flatnonzero(missing)
    done = 0
    saved = time.monotonic()
    for own in _scored(ranker, _used_candidates(groups, missing), advance, probabilities=probabilities):
        scores[rows[done : done + len(own)]] = own
        done += len(own)
        if time.monotonic() - saved > SAVE_EVERY or done == len(rows):
            with atomic_write_bytes(path) as file:  # every process writes its own temporary file
                np.savez(file, scores=scores, about=np.array(identity))
            saved = time.monotonic()
    return scores


def in_bfloat16() -> bool:
    """Whether the teachers' products are computed in bfloat16 here, so that their scores differ."""
    return torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def _used_candidates(groups: Sequence[Group], used: Bools) -> Iterator[tuple[str, list[str]]]:
    """Each question with its used candidates; questions without any are left out."""
    start = 0
    for group in groups:
        texts = [text for text, is_used in zip(group.texts, used[start:], strict=False) if is_used]
        start += len(group.candidates)
        if texts:
            yield group.question, texts


def _scored(
    ranker: Ranker, groups: Iterable[tuple[str, list[str]]], advance: Callable[[int], object], *, probabilities: bool
) -> Iterator[Floats]:
    for exits in ranker.exit_scores(groups):
        scores = exits[-1]
        if probabilities and np.abs(sigmoid(scores) - ranker.stages[-1].probability(scores)).max() > TOLERANCE:
            raise CascadaError(
                "training.teacher: its scores are not probabilities; it can teach with `level: list`, or a trained "
                "ranker can."
            )
        yield scores
        advance(len(scores))
