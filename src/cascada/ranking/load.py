"""From a name to a ranker. Engines are imported only when one is asked for."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from cascada.errors import CascadaError, first_line, require
from cascada.ranking.bm25 import bm25_ranker
from cascada.ranking.folder import COMPARE_AGGREGATE, DECOUPLED, READER, read_shape
from cascada.ranking.plan_file import read_plan
from cascada.ranking.ranker import Ranker, in_a_row

BUNDLED = "cascada-mini"
"""The model that comes with the package."""
BUNDLED_FOLDER = Path(__file__).parents[1] / "bundled" / BUNDLED


def load(model: str | Path | None = None, *, store: Any = None, add: bool = False) -> Ranker:
    """See `Ranker.load`."""
    model = BUNDLED if model is None else model
    if not isinstance(model, (str, Path)) or not str(model):
        raise CascadaError(f"The model is {model!r}; it must be a folder, {BUNDLED}, bm25 or cosine:FOLDER.")
    names = names_in(str(model))
    if store is not None and not any(map(_decoupled, names)):
        raise CascadaError(f"{model} reads question and document together: it has no use for stored encodings.")
    rankers = [_load_one(name, store, add) for name in names]
    return rankers[0] if len(rankers) == 1 else in_a_row(rankers)


def names_in(model: str) -> list[str]:
    """`A+B` are two rankers in a row, unless there is a folder of that name."""
    if Path(model.removeprefix("cosine:")).exists():
        return [model]
    names = model.split("+")
    if not all(names):
        raise CascadaError(f"The model is {model}; a name is missing beside a +, which puts rankers in a row.")
    return names


def _decoupled(name: str) -> bool:
    known = name == "bm25" or name.startswith("cosine:")
    return not known and read_shape(folder_of(name)).get("kind") == DECOUPLED


def _load_one(name: str, store: Any, add: bool) -> Ranker:
    if name == "bm25":
        return bm25_ranker()
    if name.startswith("cosine:"):
        require_torch()
        from cascada.ranking.engines.cosine import cosine_ranker

        return cosine_ranker(name.removeprefix("cosine:"))
    folder = folder_of(name)
    shape = read_shape(folder)  # a wrong folder is told before an engine is loaded
    if shape.get("kind") == READER:
        raise CascadaError(f"{name} is a reader: it finds short answers and does not rank.")
    plan = read_plan(folder, shape["exits"])
    if shape.get("kind") == DECOUPLED:
        from cascada.ranking.decoupled import decoupled_ranker

        ranker = decoupled_ranker(folder, store, add=add)
    else:
        kind = shape.get("kind")
        ranker = _exported(folder, kind) if shape.get("engine") == "onnx" else _trained(folder, kind)
    ranker.plan = plan or ranker.plan
    return ranker


def _exported(folder: Path, kind: str | None) -> Ranker:
    if kind == COMPARE_AGGREGATE:
        from cascada.ranking.engines.onnx_compare_aggregate import onnx_compare_ranker

        return onnx_compare_ranker(folder, threads=threads())
    from cascada.ranking.engines.onnx import onnx_ranker

    return onnx_ranker(folder, threads=threads())


def threads() -> int:
    """As many as there are cores for this process, or as the variable CASCADA_THREADS says."""
    from cascada.doctor import cores

    wanted = os.environ.get("CASCADA_THREADS", "")
    if wanted and not (wanted.isdecimal() and int(wanted)):
        raise CascadaError(f"CASCADA_THREADS is {wanted!r}; it must be a whole number from 1.")
    return int(wanted or cores())


def _trained(folder: Path, kind: str | None) -> Ranker:
    require_torch()
    if kind == COMPARE_AGGREGATE:
        from cascada.ranking.engines.compare_aggregate import load_compare_aggregate

        return load_compare_aggregate(folder)
    from cascada.ranking.engines.pytorch import torch_ranker

    return torch_ranker(folder)


def folder_of(model: str) -> Path:
    """The folder itself, or this machine's copy of a model on the hub, `organisation/name`, fetched if need be."""
    if model == BUNDLED and not Path(model).exists():
        return BUNDLED_FOLDER
    if Path(model).exists() or not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        return Path(model)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model))
    except (OSError, ValueError) as error:  # the hub's errors are of these kinds
        reason = first_line(error)
        raise CascadaError(
            f"There is no folder {model}, and no such model could be fetched from the hub: {reason}"
        ) from error


def require_torch(purpose: str = "the torch engine") -> None:
    """Say which extra to install where what works with torch is missing."""
    for module in ("torch", "transformers", "safetensors"):
        require(module, "train", purpose)
