"""Load a reader: the engine that its folder needs is imported, and no other."""

from __future__ import annotations

from pathlib import Path

from cascada.core.errors import require_torch
from cascada.core.folder import is_exported
from cascada.core.processors import threads
from cascada.reading.reader import Reader


def load(folder: Path) -> Reader:
    """The reader in a folder: in ONNX Runtime if it was exported, else in torch."""
    if is_exported(folder):
        from cascada.reading import engine_onnx

        return engine_onnx.load(folder, threads())
    require_torch("a reader that was not exported")
    from cascada.reading import engine_torch

    return engine_torch.load(folder)
