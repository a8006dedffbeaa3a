"""The torch engine of transformers: the network as it was trained, one stage per exit. For research and GPUs."""

from __future__ import annotations

from pathlib import Path

import torch

from cascada.encoders.late_interaction import ExitZero
from cascada.encoders.torch_stages import torch_stages
from cascada.ranking.cost import TransformerFlops
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Stage
from cascada.systems.cascade.folder import load
from cascada.systems.cascade.network import CascadeRanker
from cascada.text.pairs import PairTokenizer


def ranker_of(model: CascadeRanker, tokenizer: PairTokenizer) -> Ranker:
    """Make a ranker from a network in memory."""
    encoder, shape = model.encoder, model.shape
    flop_counts = TransformerFlops(encoder.hidden_size, encoder.feed_forward_size, shape.head, shape.head_width)
    stages: list[Stage] = [*torch_stages(model, tokenizer, flop_counts, shape.layer_exits)]
    if model.exit_zero:
        stages.insert(0, ExitZero(model.exit_zero.vectors(encoder), tokenizer))
    return Ranker(stages)


def torch_ranker(folder: Path) -> Ranker:
    """Load the folder of a trained ranker, onto the GPU if there is one."""
    model = load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    return ranker_of(model, PairTokenizer.load(folder, max_length=model.shape.max_length, pad_id=model.pad_id))
