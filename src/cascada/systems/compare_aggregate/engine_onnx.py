"""The ONNX Runtime engine of compare-aggregate: it runs the graph that `cascada export` writes. No torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cascada.graphs.session import Workers, session_of, stage_name
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.systems.compare_aggregate.cost import CompareAggregateFlops
from cascada.systems.compare_aggregate.shape import ExportedCompareAggregate, read_exported
from cascada.text.vocabulary import WORDS_FILE, Vocabulary, WordLimit, WordPairTokenizer, padded_words

WORD_BUDGET = 512
"""Padded words in one call. Calls run in parallel, one per core."""


class OnnxCompareStage:
    """Scores pairs by the network's main level."""

    exit = 0
    layers = 0

    def __init__(self, folder: Path, shape: ExportedCompareAggregate, threads: int) -> None:
        self.words = WordPairTokenizer(Vocabulary.load(folder / WORDS_FILE), max_words=shape.max_words)
        self.limit = WordLimit(shape.max_words)
        self.workers = Workers(threads)
        self.session = session_of(folder, stage_name(0), shape.precision)
        self._flop_counts = CompareAggregateFlops(shape, looked_up=True)

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        encoded = self.words.encode(pairs.questions, pairs.texts, pairs.owner)
        scores = np.empty(len(pairs), np.float32)

        def work(rows: Ints) -> None:
            deadline.check()
            question, text = (ids.astype(np.int32) for ids in padded_words(encoded, rows))
            scores[rows] = self.session.run(None, {"question": question, "text": text})[0]

        budget = min(WORD_BUDGET, -(-len(encoded.ids) // self.workers.threads))  # spread a few pairs over all cores
        self.workers.run(work, shortest_first(encoded.lengths, budget))
        return Scored(scores, None, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self._flop_counts.pair(tokens)

    def probability(self, scores: Floats) -> Floats:
        """At point level, the probability of being correct; at others, a number between 0 and 1 in score order."""
        return sigmoid(scores)


def onnx_ranker(folder: Path, *, threads: int) -> Ranker:
    """Load the folder of an exported ranker."""
    return Ranker([OnnxCompareStage(folder, read_exported(folder), threads)])
