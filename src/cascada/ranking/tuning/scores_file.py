"""Exit scores on disk, so that tuning again costs nothing. The file names the model and the data by their digests."""

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
from cascada.ranking.stage import Floats
from cascada.ranking.tuning.scores import ExitScores, question_of

FORMAT = 1


def save_scores(path: Path, scores: ExitScores, model: str, groups: Sequence[Group]) -> None:
    """Write the scores of a model, which `model` is the digest of, on the groups."""
    about = {
        "format": FORMAT,
        "model": model,
        "data": data_digest(groups),
        "exits": scores.exits,
        "layers": scores.layers,
        "full": scores.full,
    }
    together = np.concatenate([question.scores for question in scores.questions], axis=1)  # (exits, all candidates)
    with atomic_write_bytes(path) as file:
        np.savez(file, scores=together, about=np.array(json.dumps(about)))


def load_scores(path: Path, model: str, groups: Sequence[Group]) -> ExitScores:
    """The scores that `save_scores` wrote for this model's digest and these groups; labels are the groups'."""
    groups = [group for group in groups if group.candidates]
    try:
        with np.load(path, allow_pickle=False) as held:
            together, about = held["scores"], json.loads(str(held["about"]))
        version = about["format"]
    except OSError as error:
        raise CascadaError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise CascadaError(f"{path} holds no exit scores: it is another file, or damaged.") from error
    if version != FORMAT:
        raise CascadaError(f"{path} has format {version}; this version of Cascada reads format {FORMAT}.")
    for kind, digest in (("model", model), ("data", data_digest(groups))):
        if about[kind] != digest:
            raise CascadaError(f"{path} holds the scores of another {kind}: remove it, or name another file.")
    return ExitScores(
        tuple(about["exits"]),
        tuple(about["layers"]),
        about["full"],
        tuple(question_of(group, part) for group, part in zip(groups, _parts(together, groups), strict=True)),
    )


def _parts(together: Floats, groups: Sequence[Group]) -> list[Floats]:
    ends = np.cumsum([len(group.candidates) for group in groups])[:-1]
    return np.split(together, ends, axis=1)
