"""From a model's name to a ranker. The room of a system is imported only when one of its rankers is loaded."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable
from hashlib import blake2b, file_digest
from math import isfinite
from pathlib import Path
from typing import Any

from cascada.core.errors import CascadaError, first_line, require
from cascada.core.folder import BUNDLED, BUNDLED_FOLDER, PLAN_FILE, READER, kind_of, named_folder, read_shape
from cascada.core.probe import installed_version
from cascada.core.processors import cpu
from cascada.ranking.checks import is_number
from cascada.ranking.plan_file import read_plan
from cascada.ranking.ranker import Ranker
from cascada.ranking.score_cache import ScoreCache
from cascada.ranking.sequential import sequential_ranker
from cascada.systems.registry import part, split_encoder, untrained_engine

__all__ = ["BUNDLED", "BUNDLED_FOLDER", "folder_of", "load", "model_digest", "names_in", "split_store"]

_ARRAYS = ("exit0.npz", "meeting.npz")
_SCORED_BY = ("cascada.json", "config.json", "tokenizer.json", "*.safetensors", "*.onnx", "*.bin", *_ARRAYS)
"""The files that a model's scores depend on: not its card, its plan or the records of its training."""


def load(
    model: str | Path | None = None,
    *,
    store: Any = None,
    add: bool = False,
    texts: Iterable[str] | None = None,
    cache: str | Path | None = None,
    cache_mb: float = 256,
) -> Ranker:
    """Load a ranker by name; see `Ranker.load`."""
    model = BUNDLED if model is None else model
    if not isinstance(model, (str, Path)) or not str(model):
        raise CascadaError(
            f"The model is {model!r}; it must be a folder, {BUNDLED}, bm25, cosine:FOLDER or late:FOLDER."
        )
    names = names_in(str(model))
    if store is not None and not any(map(_reads_store, names)):
        raise CascadaError(f"{model} reads question and document together: it has no use for stored encodings.")
    if store is not None and cache is not None:
        raise CascadaError("A store changes, and scores with it, so that they cannot be cached: give cache or store.")
    collection = None if texts is None else list(texts)
    rankers = [_load_ranker(name, store, add, collection) for name in names]
    ranker = rankers[0] if len(rankers) == 1 else sequential_ranker(rankers)
    scores = None if cache is None else _score_cache(str(model), ranker, cache, cache_mb)
    return ranker.with_name(shown_name(str(model)), scores)


def shown_name(model: str | None) -> str:
    """The name that others see: folder names without their paths."""
    return "+".join(Path(part).name for part in names_in(model or BUNDLED))


def names_in(model: str) -> list[str]:
    """The rankers in `A+B`, which run in sequence; a folder of that name is one ranker."""
    if Path(split_encoder(model)[1]).exists():
        return [model]
    names = model.split("+")
    if not all(names):
        raise CascadaError(f"The model is {model}; a name is missing beside a +, which puts rankers in sequence.")
    return names


def split_store(model: str) -> tuple[str, str | None]:
    """The ranker and the store in `RANKER@STORE`; a folder of that name is a ranker, without a store."""
    if "@" not in model or Path(split_encoder(model)[1]).exists():
        return model, None
    name, _, store = model.rpartition("@")
    if not (name and store):
        raise CascadaError(f"The model is {model}; a name is missing beside the @, which stands before a store.")
    return name, store


def folder_of(model: str) -> Path:
    """The folder of that name, or the local copy of the hub model `organisation/name`, downloaded if necessary."""
    if Path(model).exists() or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return named_folder(model)
    hub = require("huggingface_hub", "hub", f"there is no folder {model}, and fetching it from the hub")
    try:
        return Path(hub.snapshot_download(model))
    except (OSError, ValueError) as error:  # the base classes of the hub's errors
        reason = first_line(error)
        raise CascadaError(
            f"There is no folder {model}, and no such model could be fetched from the hub: {reason}"
        ) from error


def model_digest(model: str, store: Path | str | None = None, *, plan: bool = False) -> str:
    """A digest of the files that a model's scores depend on, and of the path of the store that it reads.

    A model that is not a folder on this machine is represented by its name. With `plan`, the saved drop plan counts
    too: it decides which candidates are dropped when a call does not say.
    """
    digest = blake2b(digest_size=16)
    if store:
        digest.update(f"{store}\n".encode())
    for name in names_in(model):
        prefix, own = split_encoder(name)
        digest.update(prefix.encode())
        folder = Path(own) if prefix else folder_of(name)
        if not folder.is_dir():
            digest.update(name.encode())
        patterns = (*_SCORED_BY, PLAN_FILE) if plan else _SCORED_BY
        for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
            with open(path, "rb") as file:
                digest.update(path.name.encode() + file_digest(file, "blake2b").digest())
    return digest.hexdigest()


def _score_cache(model: str, ranker: Ranker, folder: str | Path, megabytes: float) -> ScoreCache:
    """The part of a cache that holds this model's scores, as this machine computes them."""
    if all(getattr(stage, "compares_candidates", False) for stage in ranker.stages):
        raise CascadaError(f"{model} compares the candidates of a question with each other: no score can be cached.")
    require("lmdb", "store", "a cache of scores")
    from cascada.store.bounded_cache import open_cache

    if not is_number(megabytes) or not isfinite(megabytes):
        raise CascadaError(f"cache_mb is {megabytes!r}; it must be a number of megabytes.")
    libraries = [installed_version(name) for name in ("cascada", "onnxruntime", "torch", "numpy", "tokenizers")]
    computed_by = json.dumps([libraries, platform.machine(), cpu()["model"], cpu()["instructions"]])
    digest = blake2b(f"{model_digest(model)}\n{computed_by}".encode(), digest_size=16).hexdigest()
    return ScoreCache(open_cache(folder, int(megabytes * (1 << 20))), digest)


def _reads_store(name: str) -> bool:
    if untrained_engine(name):
        return False
    kind = kind_of(folder_of(name))
    return kind != READER and bool(part(kind, "engine").READS_STORE)


def _load_ranker(name: str, store: Any, add: bool, texts: list[str] | None) -> Ranker:
    untrained = untrained_engine(name)
    if untrained:
        engine, system, argument = untrained
        ranker: Ranker = engine.load(system, argument, texts)
        return ranker
    folder = folder_of(name)
    kind, exits = kind_of(folder), read_shape(folder)["exits"]  # reject a wrong folder before an engine is imported
    if kind == READER:
        raise CascadaError(f"{name} is a reader: it finds short answers and does not rank.")
    plan = read_plan(folder, exits)
    ranker = part(kind, "engine").load(folder, store, add=add)
    if plan is None:
        return ranker
    left_out = len(exits) - len(ranker.stages)  # exit 0, where documents are stored
    return ranker.with_plan(plan[left_out:])
