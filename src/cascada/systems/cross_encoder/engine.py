"""Load a cross-encoder: the engine that its folder needs is imported, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cascada.core.errors import require_torch
from cascada.core.folder import SHAPE_FILE, is_exported
from cascada.core.processors import threads
from cascada.ranking.ranker import Ranker
from cascada.systems.cross_encoder.hub import check

READS_STORE = False


def load(folder: Path, store: Any = None, *, add: bool = False) -> Ranker:
    """Load a folder as a ranker: in ONNX Runtime if it was exported, else in torch. `store` is not used."""
    if (folder / SHAPE_FILE).exists() and is_exported(folder):
        from cascada.systems.cross_encoder.engine_onnx import onnx_ranker

        return onnx_ranker(folder, threads=threads())
    check(folder)
    require_torch("a cross-encoder that was not exported")
    from cascada.systems.cross_encoder.engine_torch import torch_ranker

    return torch_ranker(folder)
