"""The torch engine of compare-aggregate: a ranker of one stage, cheap enough to run in front of a transformer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.systems.compare_aggregate.cost import CompareAggregateFlops
from cascada.systems.compare_aggregate.folder import load
from cascada.systems.compare_aggregate.network import CompareAggregateRanker
from cascada.text.vocabulary import WordLimit, WordPairTokenizer, padded_words

WORD_BUDGET = 2048
"""Padded words computed at once."""


class TorchCompareStage:
    """Scores pairs by the network's main level."""

    exit = 0
    layers = 0

    def __init__(self, model: CompareAggregateRanker, words: WordPairTokenizer) -> None:
        self.model = model
        self.words = words
        self.limit = WordLimit(words.max_words)
        self._flop_counts = CompareAggregateFlops(model.shape)

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        encoded = self.words.encode(pairs.questions, pairs.texts, pairs.owner)
        scores = np.zeros(len(pairs), np.float32)
        device = self.model.embedding.weight.device
        with torch.inference_mode(), torch.autocast(device.type, enabled=False):  # the network computes in float32 only
            for rows in shortest_first(encoded.lengths, WORD_BUDGET):
                deadline.check()
                question, text = (torch.from_numpy(ids).to(device) for ids in padded_words(encoded, rows))
                scores[rows] = self.model.score(question, text).cpu().numpy()
        return Scored(scores, None, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self._flop_counts.pair(tokens)

    def probability(self, scores: Floats) -> Floats:
        """At point level, the probability of being correct; at others, a number between 0 and 1 in score order."""
        return sigmoid(scores)


def ranker_of(model: CompareAggregateRanker, words: WordPairTokenizer) -> Ranker:
    """Make a ranker from a network in memory."""
    return Ranker([TorchCompareStage(model, words)])


def torch_ranker(folder: Path) -> Ranker:
    """Load the folder of a trained ranker, onto the GPU if there is one."""
    model, vocabulary = load(folder)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    return ranker_of(model, WordPairTokenizer(vocabulary, max_words=model.shape.max_words))
