"""Exit scores on disk, so that tuning again costs nothing. The file knows which model and which data made it."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Sequence
from hashlib import blake2b, file_digest
from pathlib import Path

import numpy as np

from cascada.data import Group
from cascada.errors import CascadaError
from cascada.ranking.load import folder_of, names_in
from cascada.ranking.plan_file import PLAN_FILE
from cascada.ranking.stage import Floats
from cascada.ranking.tuning.scores import ExitScores, question_of

FORMAT = 1
# What a model's scores depend on; its card, its plan and its training's remains are not part of it.
_PARTS = ("cascada.json", "config.json", "tokenizer.json", "*.safetensors", "*.onnx", "*.bin")


def save_scores(path: Path, scores: ExitScores, model: str, groups: Sequence[Group], store: Path | None = None) -> None:
    """Write the scores under a temporary name, then rename: the file is whole or not there."""
    about = {
        "format": FORMAT,
        "model": model_mark(model, store),
        "data": data_mark(groups),
        "exits": scores.exits,
        "layers": scores.layers,
        "full": scores.full,
    }
    together = np.concatenate([question.scores for question in scores.questions], axis=1)  # (exits, all candidates)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, scores=together, about=np.array(json.dumps(about)))
        os.replace(temporary, path)
    except OSError as error:
        raise CascadaError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def load_scores(path: Path, model: str, groups: Sequence[Group], store: Path | None = None) -> ExitScores:
    """The scores that `save_scores` wrote for this model, store and these groups; labels are the groups'."""
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
    for kind, mark in (("model", model_mark(model, store)), ("data", data_mark(groups))):
        if about[kind] != mark:
            raise CascadaError(f"{path} holds the scores of another {kind}: remove it, or name another file.")
    return ExitScores(
        tuple(about["exits"]),
        tuple(about["layers"]),
        about["full"],
        tuple(question_of(group, part) for group, part in zip(groups, _parts(together, groups), strict=True)),
    )


def model_mark(model: str, store: Path | str | None = None, *, plan: bool = False) -> str:
    """A digest of the files that a model's scores depend on, and of the name of the store it reads.

    Of a model that is no folder here it is of the name. With `plan` also of the plan that is saved with the model, on
    which depends who is dropped where a call does not say.
    """
    digest = blake2b(digest_size=16)
    if store:
        digest.update(f"{store}\n".encode())
    for name in names_in(model):
        folder = Path(name.removeprefix("cosine:")) if name.startswith("cosine:") else folder_of(name)
        if not folder.is_dir():
            digest.update(name.encode())
        patterns = (*_PARTS, PLAN_FILE) if plan else _PARTS
        for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
            with open(path, "rb") as file:
                digest.update(path.name.encode() + file_digest(file, "blake2b").digest())
    return digest.hexdigest()


def data_mark(groups: Sequence[Group]) -> str:
    """A digest of ids and texts, not of labels: those do not change a score."""
    digest = blake2b(digest_size=16)
    for group in groups:
        if group.candidates:
            row = [group.id, group.question, *((one.id, one.text) for one in group.candidates)]
            digest.update(json.dumps(row).encode())
    return digest.hexdigest()


def _parts(together: Floats, groups: Sequence[Group]) -> list[Floats]:
    ends = np.cumsum([len(group.candidates) for group in groups])[:-1]
    return np.split(together, ends, axis=1)
