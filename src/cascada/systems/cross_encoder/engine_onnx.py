"""The ONNX Runtime engine of cross-encoders: it runs the stage graphs that `cascada export` writes. No torch."""

from __future__ import annotations

from pathlib import Path

from cascada.encoders.late_interaction import ExitZero
from cascada.graphs.onnx_stages import OnnxModel
from cascada.graphs.piece_vectors import load_vectors
from cascada.graphs.session import Workers
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Stage
from cascada.systems.cross_encoder.cost import CrossEncoderFlops
from cascada.systems.cross_encoder.shape import read_exported
from cascada.text.pairs import PairTokenizer


def onnx_ranker(folder: Path, *, threads: int) -> Ranker:
    """Load the folder of an exported cross-encoder."""
    shape = read_exported(folder)
    tokenizer = PairTokenizer.load(
        folder,
        max_length=shape.max_length,
        pad_id=shape.pad_id,
        prompt=shape.prompt,
        token_types=shape.token_types,
    )
    flop_counts = CrossEncoderFlops(shape.hidden, shape.feed_forward)
    model = OnnxModel(folder, shape, tokenizer, flop_counts, Workers(threads), shape.activation)
    stages: list[Stage] = [*model.stages()]
    if shape.exit_zero:
        stages.insert(0, ExitZero(load_vectors(folder), tokenizer))
    return Ranker(stages)
