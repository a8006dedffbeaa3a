"""Load a decoupled ranker, or its document side: the engine that its folder needs is imported, and no other."""

from __future__ import annotations

from pathlib import Path

from cascada.core.errors import CascadaError, require_torch
from cascada.core.folder import is_exported, kind_of
from cascada.core.probe import can_run
from cascada.core.processors import threads
from cascada.encoders.late_interaction import ExitZero
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Stage
from cascada.systems.decoupled.documents import DocumentEncoder, EncodingStore
from cascada.systems.decoupled.engine_protocol import DecoupledEngine
from cascada.systems.decoupled.shape import KIND
from cascada.systems.decoupled.stages import DecoupledStage, stages_of

READS_STORE = True


def load(folder: Path, store: EncodingStore | str | Path | None = None, *, add: bool = False) -> Ranker:
    """Load a folder as a ranker: in ONNX Runtime if it was exported, else in torch.

    Documents whose encodings are in `store`, a store or its path, are not encoded again; with `add`, new encodings are
    put into it. With a store, exit 0 is left out: it would tokenise all documents, which takes longer than comparing
    their stored encodings.
    """
    engine = engine_of(folder)
    if isinstance(store, (str, Path)):
        from cascada.store import open_store

        store = open_store(store, fingerprint=engine.fingerprint, write=add)
    return Ranker(_stages(engine, store, add=add))


def encoder_of(ranker: Ranker) -> DocumentEncoder | None:
    """The document side of a loaded ranker; None if it has none, or is more than one decoupled ranker."""
    *before, last = ranker.stages
    if not isinstance(last, DecoupledStage):
        return None
    own = all(_belongs_to(last.engine, stage) for stage in before)
    return DocumentEncoder(last.engine) if own else None


def with_store(ranker: Ranker, store: EncodingStore) -> Ranker:
    """A loaded decoupled ranker, reading encodings from a store. Its plan is that of the exits which are left."""
    encoder = encoder_of(ranker)
    assert encoder is not None
    stages = _stages(encoder.engine, store)
    return Ranker(stages, plan=ranker.plan[len(ranker.stages) - len(stages) :])


def _belongs_to(engine: DecoupledEngine, stage: Stage) -> bool:
    if isinstance(stage, ExitZero):
        return stage.vectors is engine.exit_zero
    return isinstance(stage, DecoupledStage) and stage.engine is engine


def _stages(engine: DecoupledEngine, store: EncodingStore | None, *, add: bool = False) -> list[Stage]:
    stages = stages_of(engine, store, add=add)
    return stages[1:] if engine.shape.exit_zero and store is not None else stages


def document_encoder(name: str | Path, *, bfloat16: bool = False) -> DocumentEncoder:
    """Load the document side of a decoupled ranker, with which `cascada encode` fills a store.

    `bfloat16` computes the products of a trained ranker in 16 bits.
    """
    folder = Path(name)
    if kind_of(folder) != KIND:
        raise CascadaError(
            f"{name} reads question and document together; only a decoupled ranker has encodings to store."
        )
    if bfloat16 and is_exported(folder):
        raise CascadaError(f"{name} is exported, so its precision was chosen then: leave out --bfloat16.")
    if bfloat16 and not can_run("torch bfloat16"):
        raise CascadaError("torch cannot compute in bfloat16 on this processor: leave out --bfloat16.")
    return DocumentEncoder(engine_of(folder, bfloat16=bfloat16))


def engine_of(folder: Path, *, bfloat16: bool = False) -> DecoupledEngine:
    """The ONNX Runtime engine of an exported ranker, or the torch engine of a trained one."""
    if is_exported(folder):
        from cascada.systems.decoupled.engine_onnx import OnnxEngine

        return OnnxEngine(folder, threads())
    require_torch()
    from cascada.systems.decoupled.engine_torch import torch_engine

    return torch_engine(folder, bfloat16=bfloat16)
