"""A cross-encoder with its tokenizer: one pass gives the pooled states of its layers and its own scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from cascada.encoders.encoder import TOKEN_BUDGET
from cascada.ranking.arrays import shortest_first
from cascada.ranking.stage import Floats, Pairs
from cascada.systems.cross_encoder.folder import load, pair_tokenizer
from cascada.systems.cross_encoder.network import CrossEncoderRanker
from cascada.text.pairs import PairTokenizer


class PooledNetwork:
    """Runs pairs through all layers of a network and keeps what heads can read."""

    def __init__(self, network: CrossEncoderRanker, tokenizer: PairTokenizer) -> None:
        self.network = network
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path) -> PooledNetwork:
        """Load a model in the hub's layout, onto the GPU if there is one."""
        network = load(folder)
        tokenizer = pair_tokenizer(folder, network)
        return cls(network.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer)

    @property
    def width(self) -> int:
        """The number of values that a head reads."""
        return self.network.shape.head.pooled(self.network.encoder.hidden_size)

    def pooled(self, pairs: Pairs, layers: Sequence[int]) -> tuple[Mapping[int, Floats], Floats]:
        """The pooled states after each of the layers, (pairs, width), and the model's own raw scores, (pairs,)."""
        encoded = self.tokenizer.encode(pairs.questions, pairs.texts, pairs.owner)
        states = {layer: np.empty((len(pairs), self.width), np.float32) for layer in layers}
        scores = np.empty(len(pairs), np.float32)
        with torch.inference_mode():
            for rows in shortest_first(encoded.lengths, TOKEN_BUDGET):
                pooled, own = self._run(*encoded.padded(rows, self.tokenizer.pad_id))
                scores[rows] = own.cpu().numpy()
                for layer in layers:
                    states[layer][rows] = pooled[:, layer - 1].cpu().numpy()
        return states, scores

    def _run(self, *inputs: np.ndarray) -> tuple[Tensor, Tensor]:
        device = self.network.encoder.word_embeddings.device
        return self.network.pooled_states(*(torch.from_numpy(array).to(device) for array in inputs))
