"""An exported compare-aggregate ranker, in ONNX Runtime. No torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cascada.errors import CascadaError
from cascada.models.compare_aggregate.arithmetic import CompareArithmetic
from cascada.models.compare_aggregate.shape import CompareAggregateShape
from cascada.ranking.batches import shortest_first
from cascada.ranking.engines.onnx import Workers, session_of
from cascada.ranking.engines.sigmoid import sigmoid
from cascada.ranking.exported import check_manifest, stage_name
from cascada.ranking.folder import SHAPE_FILE, read_shape
from cascada.ranking.ranker import Ranker
from cascada.ranking.stage import Deadline, Floats, Ints, Pairs, Scored
from cascada.text.vocabulary import WORDS_FILE, Vocabulary
from cascada.text.word_pairs import WordPairs, sides

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


def onnx_compare_ranker(folder: Path, *, threads: int) -> Ranker:
    """An exported ranker's folder as a ranker."""
    about = {name: value for name, value in read_shape(folder).items() if name not in ("engine", "kind", "exits")}
    precision = str(about.pop("precision", "fp32"))
    try:
        shape = CompareAggregateShape(**about)
    except (TypeError, AttributeError) as error:
        raise CascadaError(f"{folder / SHAPE_FILE} is damaged: {error}.") from error
    check_manifest(folder)
    return Ranker([OnnxCompareStage(folder, shape, precision, threads)])
