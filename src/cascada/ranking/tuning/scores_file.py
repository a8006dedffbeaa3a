"""Exit scores in a file, so that the model need not run again. The file records the digests of model and data."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cascada.core.errors import CascadaError
from cascada.core.files import atomic_write_bytes
from cascada.data import Group
from cascada.data.group import data_digest
from cascada.ranking.runs import with_candidates
from cascada.ranking.stage import Floats
from cascada.ranking.tuning.scores import ExitScores, scored_question

FORMAT = 1


def save_scores(path: Path, scores: ExitScores, model: str, groups: Sequence[Group]) -> None:
    """Save the scores of a model on the groups; `model` is the digest of the model."""
    header = {
        "format": FORMAT,
        "model": model,
        "data": data_digest(groups),
        "exits": scores.exits,
        "layers": scores.layers,
        "full": scores.full,
    }
    scores_of_all = np.concatenate(
        [question.scores for question in scores.questions], axis=1
    )  # (exits, all candidates)
    with atomic_write_bytes(path) as file:
        np.savez(file, scores=scores_of_all, about=np.array(json.dumps(header)))


def load_scores(path: Path, model: str, groups: Sequence[Group]) -> ExitScores:
    """Load what `save_scores` wrote for this digest and these groups. Labels are taken from the groups."""
    groups = with_candidates(groups)
    try:
        with np.load(path, allow_pickle=False) as file:
            scores, header = file["scores"], json.loads(str(file["about"]))
        version = header["format"]
    except OSError as error:
        raise CascadaError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise CascadaError(f"{path} is not a file of exit scores, or is damaged.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}.")
    for kind, digest in (("model", model), ("data", data_digest(groups))):
        if header[kind] != digest:
            raise CascadaError(f"{path} holds the scores of another {kind}: remove it, or name another file.")
    return ExitScores(
        tuple(header["exits"]),
        tuple(header["layers"]),
        header["full"],
        tuple(scored_question(group, part) for group, part in zip(groups, _by_group(scores, groups), strict=True)),
    )


def _by_group(scores: Floats, groups: Sequence[Group]) -> list[Floats]:
    ends = np.cumsum([len(group.candidates) for group in groups])[:-1]
    return np.split(scores, ends, axis=1)
