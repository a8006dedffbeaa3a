"""From a name to a ranker. Engines are imported only when one is asked for."""

from __future__ import annotations

from pathlib import Path

from cascada.errors import require
from cascada.ranking.bm25 import bm25_ranker
from cascada.ranking.folder import read_shape
from cascada.ranking.ranker import Ranker


def load(model: str | Path | None = None) -> Ranker:
    """See `Ranker.load`."""
    if model is None or model == "bm25":
        return bm25_ranker()
    if isinstance(model, str) and model.startswith("cosine:"):
        _require_torch()
        from cascada.ranking.engines.cosine import cosine_ranker

        return cosine_ranker(model.removeprefix("cosine:"))
    folder = Path(model)
    read_shape(folder)  # a wrong folder is told before torch is loaded
    _require_torch()
    from cascada.ranking.engines.pytorch import torch_ranker

    return torch_ranker(folder)


def _require_torch() -> None:
    for module in ("torch", "transformers", "safetensors"):
        require(module, "train", "the torch engine")
