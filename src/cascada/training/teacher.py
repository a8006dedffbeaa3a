"""Learning from another ranker: its scores of the training set, computed once, are soft targets beside the labels."""

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


CLOSE = 1e-3


def taught_scores(
    settings: TeacherSettings,
    groups: Sequence[Group],
    folder: Path,
    advance: Callable[[int], object] = lambda pairs: None,
    *,
    used: Bools | None = None,
) -> Floats:
    """The teacher's raw scores of all pairs, (pairs,), in the groups' order; read from `folder` if they are there.

    Pairs that are not `used` (pairs,) have the score 0, and cost nothing.
    """
    used = np.ones(sum(len(group.candidates) for group in groups), bool) if used is None else used
    pairs = hashlib.sha256(used.tobytes()).hexdigest()
    about = json.dumps({"model": model_digest(settings.model), "data": data_digest(groups), "pairs": pairs})
    path = folder / SCORES_FILE
    if path.exists():
        kept = np.load(path)
        if str(kept["about"]) == about:
            return kept["scores"]  # type: ignore[no-any-return]
    scores = np.zeros(len(used), np.float32)
    scores[used] = np.concatenate(_scored(Ranker.load(settings.model), _asked(groups, used), advance))
    with atomic_write_bytes(path) as file:  # each of several processes writes a temporary file of its own
        np.savez(file, scores=scores, about=np.array(about))
    return scores


def mixed(loss: Tensor, logits: Tensor, taught: Tensor | None, settings: TeacherSettings | None) -> Tensor:
    """The loss with the teacher's share in it: how far (pairs, 2) logits are from its opinion (pairs,)."""
    if taught is None or settings is None:
        return loss
    opinion = torch.stack((torch.zeros_like(taught), taught), -1)  # a raw score is right minus wrong
    return (1 - settings.share) * loss + settings.share * distill(logits, opinion, temperature=settings.temperature)


def _asked(groups: Sequence[Group], used: Bools) -> Iterator[tuple[str, list[str]]]:
    """Each question with its candidates that are used, if there are any."""
    start = 0
    for group in groups:
        texts = [text for text, wanted in zip(group.texts, used[start:], strict=False) if wanted]
        start += len(group.candidates)
        if texts:
            yield group.question, texts


def _scored(ranker: Ranker, asked: Iterable[tuple[str, list[str]]], advance: Callable[[int], object]) -> list[Floats]:
    found = []
    for exits in ranker.exit_scores(asked):
        scores = exits[-1]
        if np.abs(sigmoid(scores) - ranker.stages[-1].probability(scores)).max() > CLOSE:
            raise CascadaError("training.teacher: its scores are no probabilities; a trained ranker's are.")
        found.append(scores)
        advance(len(scores))
    return found
