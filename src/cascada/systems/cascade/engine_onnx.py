"""The ONNX Runtime engine of transformers: it runs the stage graphs that `cascada export` writes. No torch."""

from __future__ import annotations

from pathlib import Path

from cascada.encoders.late_interaction import ExitZero
from cascada.graphs.onnx_stages import OnnxModel
from cascada.graphs.piece_vectors import load_vectors
from cascada.graphs.session import Workers
from cascada.ranking.cost import TransformerFlops
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Stage
from cascada.systems.cascade.shape import read_exported
from cascada.text.pairs import PairTokenizer


def onnx_ranker(folder: Path, *, threads: int) -> Ranker:
    """Load the folder of an exported ranker."""
    shape = read_exported(folder)
    tokenizer = PairTokenizer.load(folder, max_length=shape.max_length, pad_id=shape.pad_id)
    flop_counts = TransformerFlops(shape.hidden, shape.feed_forward, shape.head, shape.head_width)
    stages: list[Stage] = [*OnnxModel(folder, shape, tokenizer, flop_counts, Workers(threads)).stages()]
    if shape.exit_zero:
        stages.insert(0, ExitZero(load_vectors(folder), tokenizer))
    return Ranker(stages)
