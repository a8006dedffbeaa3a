"""Load a compare-aggregate ranker: the engine that its folder needs is imported, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cascada.core.errors import require_torch
from cascada.core.folder import is_exported
from cascada.core.processors import threads
from cascada.ranking.ranker import Ranker

READS_STORE = False


def load(folder: Path, store: Any = None, *, add: bool = False) -> Ranker:
    """Load a folder as a ranker: in ONNX Runtime if it was exported, else in torch. `store` is not used."""
    if is_exported(folder):
        from cascada.systems.compare_aggregate.engine_onnx import onnx_ranker

        return onnx_ranker(folder, threads=threads())
    require_torch()
    from cascada.systems.compare_aggregate.engine_torch import torch_ranker

    return torch_ranker(folder)
