"""Exit 0 in a network: the weights of word pieces, and the scaling of its scores. See `late_interaction`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import torch
from torch import Tensor, nn

from cascada.encoders.encoder import StagedEncoder
from cascada.encoders.late_interaction import SCALE, SHIFT, PieceVectors, piece_weights
from cascada.text.pairs import PairTokenizer

TEXTS_AT_ONCE = 4096
"""Texts that are tokenised together."""


class ExitZeroWeights(nn.Module):
    """Buffers that are saved with the network. They do not change while its layers are trained."""

    weights: Tensor
    """(vocabulary,): the IDF of each word piece, or a weight that was learned from it."""
    scaling: Tensor
    """(2,): scale and shift from a similarity to a raw score."""

    def __init__(self, encoder: StagedEncoder) -> None:
        super().__init__()
        self.register_buffer("weights", torch.ones(len(encoder.word_embeddings)))
        self.register_buffer("scaling", torch.tensor([SCALE, SHIFT]))

    def vectors(self, encoder: StagedEncoder) -> PieceVectors:
        """The vectors and weights of exit 0, as the encoder has them now."""
        table = encoder.word_embeddings.detach().cpu().numpy()
        scale, shift = self.scaling.tolist()
        return PieceVectors(table, table.mean(0), self.weights.cpu().numpy(), (scale, shift))

    def set_idf(self, tokenizer: PairTokenizer, texts: Iterable[str]) -> None:
        """Compute the IDF of the word pieces among these texts; special and unknown pieces get the weight 0."""
        rest = iter(texts)
        batches = iter(lambda: list(islice(rest, TEXTS_AT_ONCE)), [])
        tokens = (ids for batch in batches for ids in tokenizer.tokens(batch))
        weights = piece_weights(tokens, len(self.weights), tokenizer.not_words)
        self.weights.copy_(torch.from_numpy(weights))

    def rescale(self, scale: float, shift: float) -> None:
        """Scale and shift the raw scores."""
        self.scaling.mul_(scale)
        self.scaling[1] += shift
