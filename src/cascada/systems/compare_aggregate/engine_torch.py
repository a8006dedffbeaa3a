"""Compare-aggregate as a ranker of one stage: no transformer layers, so a cheap first stage in front of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.systems.compare_aggregate.cost import CompareArithmetic
from cascada.systems.compare_aggregate.folder import load
from cascada.systems.compare_aggregate.network import CompareAggregate
from cascada.text.vocabulary import WordPairs, sides

WORD_BUDGET = 2048
"""Padded words computed at once."""


class CompareAggregateStage:
    """The network's main level."""

    exit = 0
    layers = 0

    def __init__(self, model: CompareAggregate, words: WordPairs) -> None:
        self.model = model
        self.words = words
        self._arithmetic = CompareArithmetic(model.shape)

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        encoded = self.words.encode(pairs.questions, pairs.texts, pairs.owner)
        scores = np.zeros(len(pairs), np.float32)
        device = self.model.embedding.weight.device
        with torch.inference_mode():
            for rows in shortest_first(encoded.lengths, WORD_BUDGET):
                deadline.check()
                question, text = (torch.from_numpy(ids).to(device) for ids in sides(encoded, rows))
                scores[rows] = self.model.score(question, text).cpu().numpy()
        return Scored(scores, None, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self._arithmetic.pair(tokens)

    def probability(self, scores: Floats) -> Floats:
        """At point level the probability of being right; at the others only the same order between 0 and 1."""
        return sigmoid(scores)


def compare_aggregate_ranker(model: CompareAggregate, words: WordPairs) -> Ranker:
    """A model in memory as a ranker."""
    return Ranker([CompareAggregateStage(model, words)])


def torch_ranker(folder: Path) -> Ranker:
    """A trained ranker's folder as a ranker, on the GPU if there is one."""
    model, vocabulary = load(folder)
    model = model.to("cuda" if torch.cuda.is_available() else "cpu")
    return compare_aggregate_ranker(model, WordPairs(vocabulary, max_words=model.shape.max_words))
