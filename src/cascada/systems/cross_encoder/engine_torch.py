"""The torch engine of cross-encoders: transformers' own layers, one stage per exit."""

from __future__ import annotations

from pathlib import Path

import torch

from cascada.encoders.late_interaction import ExitZero
from cascada.encoders.torch_stages import torch_stages
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Stage
from cascada.systems.cross_encoder.cost import CrossEncoderFlops
from cascada.systems.cross_encoder.folder import load, pair_tokenizer
from cascada.systems.cross_encoder.network import CrossEncoderRanker
from cascada.text.pairs import PairTokenizer


def ranker_of(network: CrossEncoderRanker, tokenizer: PairTokenizer) -> Ranker:
    """Make a ranker from a network in memory."""
    encoder, shape = network.encoder, network.shape
    flop_counts = CrossEncoderFlops(encoder.hidden_size, encoder.feed_forward_size)
    stages: list[Stage] = [*torch_stages(network, tokenizer, flop_counts, shape.layer_exits, shape.activation)]
    if network.exit_zero:
        stages.insert(0, ExitZero(network.exit_zero.vectors(encoder), tokenizer))
    return Ranker(stages)


def torch_ranker(folder: Path) -> Ranker:
    """Load a folder, onto the GPU if there is one."""
    network = load(folder).to("cuda" if torch.cuda.is_available() else "cpu")
    return ranker_of(network, pair_tokenizer(folder, network))
