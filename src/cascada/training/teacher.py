"""Learning from a teacher: its scores of the training pairs, computed once, are soft targets beside the labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write_bytes
from cascada.data import Group
from cascada.data.group import data_digest
from cascada.objectives.losses import distill
from cascada.ranking.arrays import sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Bools, Floats
from cascada.systems.load import model_digest
from cascada.training.settings import TeacherSettings

SCORES_FILE = "teacher.npz"
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
    """The teacher's raw scores of all pairs, (pairs,), in the order of the groups; cached in `folder`.

    Only pairs that are `used`, (pairs,), are scored; the others have the score 0.
    """
    used = np.ones(sum(len(group.candidates) for group in groups), bool) if used is None else used
    pairs = hashlib.sha256(used.tobytes()).hexdigest()
    identity = json.dumps({"model": model_digest(settings.model), "data": data_digest(groups), "pairs": pairs})
    path = folder / SCORES_FILE
    if path.exists():
        cached = np.load(path)
        if str(cached["about"]) == identity:
            return cached["scores"]  # type: ignore[no-any-return]
    scores = np.zeros(len(used), np.float32)
    scores[used] = np.concatenate(_scored(Ranker.load(settings.model), _used_candidates(groups, used), advance))
    with atomic_write_bytes(path) as file:  # every process writes its own temporary file
        np.savez(file, scores=scores, about=np.array(identity))
    return scores


def add_teacher_loss(loss: Tensor, logits: Tensor, scores: Tensor | None, settings: TeacherSettings | None) -> Tensor:
    """Mix the loss with the distance of (pairs, 2) logits to the teacher's raw scores (pairs,); without them, no-op."""
    if scores is None or settings is None:
        return loss
    teacher = torch.stack((torch.zeros_like(scores), scores), -1)  # (pairs, 2): a raw score is a difference of logits
    return (1 - settings.share) * loss + settings.share * distill(logits, teacher, temperature=settings.temperature)


def _used_candidates(groups: Sequence[Group], used: Bools) -> Iterator[tuple[str, list[str]]]:
    """Each question with its used candidates; questions without any are left out."""
    start = 0
    for group in groups:
        texts = [text for text, is_used in zip(group.texts, used[start:], strict=False) if is_used]
        start += len(group.candidates)
        if texts:
            yield group.question, texts


def _scored(ranker: Ranker, groups: Iterable[tuple[str, list[str]]], advance: Callable[[int], object]) -> list[Floats]:
    all_scores = []
    for exits in ranker.exit_scores(groups):
        scores = exits[-1]
        if np.abs(sigmoid(scores) - ranker.stages[-1].probability(scores)).max() > TOLERANCE:
            raise CascadaError("training.teacher: its scores are not probabilities; only a trained ranker can teach.")
        all_scores.append(scores)
        advance(len(scores))
    return all_scores
