"""From a name to a ranker. Engines are imported only when one is asked for."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cascada.errors import CascadaError, first_line, require
from cascada.ranking.bm25 import bm25_ranker
from cascada.ranking.folder import COMPARE_AGGREGATE, read_shape
from cascada.ranking.plan_file import read_plan
from cascada.ranking.ranker import Ranker, in_a_row


def load(model: str | Path | None = None) -> Ranker:
    """See `Ranker.load`."""
    if model is None:
        return bm25_ranker()
    if not isinstance(model, (str, Path)) or not str(model):
        raise CascadaError(f"The model is {model!r}; it must be the name of a folder, bm25 or cosine:FOLDER.")
    rankers = [_load_one(name) for name in _names(str(model))]
    return rankers[0] if len(rankers) == 1 else in_a_row(rankers)


def _names(model: str) -> list[str]:
    """`A+B` are two rankers in a row, unless there is a folder of that name."""
    if Path(model.removeprefix("cosine:")).exists():
        return [model]
    names = model.split("+")
    if not all(names):
        raise CascadaError(f"The model is {model}; a name is missing beside a +, which puts rankers in a row.")
    return names


def _load_one(name: str) -> Ranker:
    if name == "bm25":
        return bm25_ranker()
    if name.startswith("cosine:"):
        _require_torch()
        from cascada.ranking.engines.cosine import cosine_ranker

        return cosine_ranker(name.removeprefix("cosine:"))
    folder = _folder(name)
    shape = read_shape(folder)  # a wrong folder is told before an engine is loaded
    plan = read_plan(folder, shape["exits"])
    ranker = _exported(folder) if shape.get("engine") == "onnx" else _trained(folder, shape.get("kind"))
    ranker.plan = plan or ranker.plan
    return ranker


def _exported(folder: Path) -> Ranker:
    from cascada.ranking.engines.onnx import onnx_ranker

    return onnx_ranker(folder, threads=_threads())


def _threads() -> int:
    """As many as there are cores for this process, or as the variable CASCADA_THREADS says."""
    from cascada.doctor import cores

    wanted = os.environ.get("CASCADA_THREADS", "")
    if wanted and not (wanted.isdecimal() and int(wanted)):
        raise CascadaError(f"CASCADA_THREADS is {wanted!r}; it must be a whole number from 1.")
    return int(wanted or cores())


def _trained(folder: Path, kind: str | None) -> Ranker:
    _require_torch()
    if kind == COMPARE_AGGREGATE:
        from cascada.ranking.engines.compare_aggregate import load_compare_aggregate

        return load_compare_aggregate(folder)
    from cascada.ranking.engines.pytorch import torch_ranker

    return torch_ranker(folder)


def _folder(model: str) -> Path:
    """The folder itself, or this machine's copy of a model on the hub, `organisation/name`, fetched if need be."""
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


def _require_torch() -> None:
    for module in ("torch", "transformers", "safetensors"):
        require(module, "train", "the torch engine")
