"""From a folder to a decoupled ranker, or to its document side. The engine is imported only when it is needed."""

from __future__ import annotations

from pathlib import Path

from cascada.core.errors import CascadaError, require_torch
from cascada.core.folder import DECOUPLED, read_shape
from cascada.core.processors import threads
from cascada.ranking.ranker import Ranker
from cascada.systems.decoupled.documents import DocumentEncoder, EncodingStore
from cascada.systems.decoupled.parts import DecoupledEngine
from cascada.systems.decoupled.stages import stages_of


def load(folder: Path, store: EncodingStore | str | Path | None = None, *, add: bool = False) -> Ranker:
    """Load a folder as a ranker. Documents that the store holds, given by its path or as an object, are not encoded."""
    engine = engine_of(folder)
    if isinstance(store, (str, Path)):
        from cascada.store import open_store

        store = open_store(store, fingerprint=engine.fingerprint, write=add)
    return Ranker(stages_of(engine, store, add=add))


def document_encoder(name: str | Path) -> DocumentEncoder:
    """The document side of a decoupled ranker's folder: what `cascada encode` fills a store with."""
    folder = Path(name)
    if read_shape(folder).get("kind") != DECOUPLED:
        raise CascadaError(
            f"{name} reads question and document together; only a decoupled ranker has encodings to keep."
        )
    return DocumentEncoder(engine_of(folder))


def engine_of(folder: Path) -> DecoupledEngine:
    """The ONNX Runtime engine for an exported ranker, the torch engine for a trained one."""
    if read_shape(folder).get("engine") == "onnx":
        from cascada.systems.decoupled.engine_onnx import OnnxParts

        return OnnxParts(folder, threads())
    require_torch()
    from cascada.systems.decoupled.engine_torch import torch_parts

    return torch_parts(folder)
