"""Cosine ranking: question and candidates are embedded separately and compared. A baseline for trained rankers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from cascada.encoders.encoder import TOKEN_BUDGET, StagedEncoder, load_encoder, mean_of_tokens
from cascada.ranking.arrays import shortest_first
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.pairs import EncodedPairs, PairTokenizer


class CosineStage:
    """Scores pairs by the cosine of the mean token states of question and candidate."""

    exit = 0
    layers = 0

    def __init__(self, encoder: StagedEncoder, tokenizer: PairTokenizer) -> None:
        self.encoder = encoder.eval()
        self.tokenizer = tokenizer

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        questions = self.embed(self.tokenizer.encode_alone(pairs.questions), deadline)
        encoded = self.tokenizer.encode_alone(pairs.texts)
        scores = (questions[pairs.owner] * self.embed(encoded, deadline)).sum(1)
        return Scored(scores.astype(np.float32), truncated=encoded.truncated)

    def flops(self, tokens: Ints) -> Ints:
        """Zero: candidates may be embedded long before they are ranked."""
        return np.zeros_like(tokens)

    def probability(self, scores: Floats) -> Floats:
        """(1 + cosine) / 2: a number between 0 and 1 in score order, not the probability of being correct."""
        return ((1 + np.clip(scores, -1, 1)) / 2).astype(np.float32)

    def embed(self, encoded: EncodedPairs, deadline: Deadline) -> NDArray[np.float32]:
        """Unit vectors, (texts, hidden)."""
        vectors = np.zeros((len(encoded), self.encoder.hidden_size), np.float32)
        with torch.inference_mode():
            for rows in shortest_first(encoded.lengths, TOKEN_BUDGET):
                deadline.check()
                ids, mask, types = map(torch.from_numpy, encoded.padded(rows, self.tokenizer.pad_id))
                states = self.encoder.run(self.encoder.embed(ids, types), mask, 0, self.encoder.depth)
                mean = mean_of_tokens(states, mask)
                vectors[rows] = torch.nn.functional.normalize(mean, dim=-1).numpy()
        return vectors


def cosine_ranker(folder: Path) -> Ranker:
    """Make a ranker of the encoder in a folder in the hub's layout."""
    encoder = load_encoder(str(folder))
    tokenizer = PairTokenizer.load(folder, max_length=min(256, encoder.longest), pad_id=encoder.pad_id)
    return Ranker([CosineStage(encoder, tokenizer)])
