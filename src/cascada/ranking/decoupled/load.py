"""From a folder to a decoupled ranker, or to its document side. The engine is imported only when asked for."""

from __future__ import annotations

from pathlib import Path

from cascada.errors import CascadaError
from cascada.ranking.decoupled.documents import DocumentEncoder, EncodingStore
from cascada.ranking.decoupled.engine import DecoupledEngine
from cascada.ranking.decoupled.stages import stages_of
from cascada.ranking.folder import DECOUPLED, read_shape
from cascada.ranking.ranker import Ranker


def decoupled_ranker(folder: Path, store: EncodingStore | str | Path | None = None, *, add: bool = False) -> Ranker:
    """A folder as a ranker whose documents come from a store, by its path or as an object, where it has them."""
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
    from cascada.ranking.load import require_torch, threads

    if read_shape(folder).get("engine") == "onnx":
        from cascada.ranking.engines.decoupled_onnx import OnnxParts

        return OnnxParts(folder, threads())
    require_torch()
    from cascada.ranking.engines.decoupled import torch_parts

    return torch_parts(folder)
