"""An exported compare-aggregate ranker, in ONNX Runtime. No torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cascada.core.folder import check_manifest, parsed, read_shape
from cascada.graphs.session import Workers, session_of, stage_name
from cascada.ranking.arrays import shortest_first, sigmoid
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.systems.compare_aggregate.cost import CompareArithmetic
from cascada.systems.compare_aggregate.shape import CompareAggregateShape
from cascada.text.vocabulary import WORDS_FILE, Vocabulary, WordPairs, sides

WORD_BUDGET = 512
"""Padded words in one call. Calls run side by side, one per core."""


class OnnxCompareStage:
    """The network's main level."""

    exit = 0
    layers = 0

    def __init__(self, folder: Path, shape: CompareAggregateShape, precision: str, threads: int) -> None:
        self.words = WordPairs(Vocabulary.load(folder / WORDS_FILE), max_words=shape.max_words)
        self.workers = Workers(threads)
        self.session = session_of(folder, stage_name(0), precision)
        self._arithmetic = CompareArithmetic(shape, looked_up=True)

    def score(self, pairs: Pairs, state: Any, deadline: Deadline) -> Scored:
        encoded = self.words.encode(pairs.questions, pairs.texts, pairs.owner)
        scores = np.empty(len(pairs), np.float32)

        def work(rows: Ints) -> None:
            deadline.check()
            question, text = (ids.astype(np.int32) for ids in sides(encoded, rows))
            scores[rows] = self.session.run(None, {"question": question, "text": text})[0]

        budget = min(WORD_BUDGET, -(-len(encoded.ids) // self.workers.threads))  # few pairs are still shared
        self.workers.run(work, shortest_first(encoded.lengths, budget))
        return Scored(scores, None, encoded.truncated, encoded.lengths)

    def flops(self, tokens: Ints) -> Ints:
        return self._arithmetic.pair(tokens)

    def probability(self, scores: Floats) -> Floats:
        """At point level the probability of being right; at the others only the same order between 0 and 1."""
        return sigmoid(scores)


def onnx_ranker(folder: Path, *, threads: int) -> Ranker:
    """An exported ranker's folder as a ranker."""
    shape = parsed(folder, CompareAggregateShape, ignore=("exits", "precision"))
    check_manifest(folder)
    precision = str(read_shape(folder).get("precision", "fp32"))
    return Ranker([OnnxCompareStage(folder, shape, precision, threads)])
