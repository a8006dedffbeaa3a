"""The measures straight from their formulas, one question at a time: slow, short, and independent of trec_eval."""

from __future__ import annotations

from math import log2

import numpy as np


def ranked_labels(scores: dict[str, float], labels: dict[str, int]) -> list[int]:
    """The labels in trec_eval's order: by 32-bit score, equal scores by id in bytes, both from the top down."""
    order = sorted(scores, key=lambda candidate: (np.float32(scores[candidate]), candidate.encode()), reverse=True)
    return [labels.get(candidate, 0) for candidate in order]


def average_precision(ranked: list[int], labels: list[int]) -> float:
    correct = sum(label >= 1 for label in labels)
    hits = [rank for rank, label in enumerate(ranked, start=1) if label >= 1]
    return sum(count / rank for count, rank in enumerate(hits, start=1)) / correct if correct else 0.0


def reciprocal_rank(ranked: list[int], labels: list[int]) -> float:
    return next((1 / rank for rank, label in enumerate(ranked, start=1) if label >= 1), 0.0)


def precision(ranked: list[int], labels: list[int], k: int) -> float:
    return sum(label >= 1 for label in ranked[:k]) / k


def recall(ranked: list[int], labels: list[int], k: int) -> float:
    correct = sum(label >= 1 for label in labels)
    return sum(label >= 1 for label in ranked[:k]) / correct if correct else 0.0


def ndcg(ranked: list[int], labels: list[int], k: int) -> float:
    ideal = dcg(sorted(labels, reverse=True)[:k])
    return dcg(ranked[:k]) / ideal if ideal else 0.0


def dcg(labels: list[int]) -> float:
    """The gain is the label itself, discounted by log2(rank + 1); a label below 0 gains nothing."""
    return sum(max(label, 0) / log2(rank + 1) for rank, label in enumerate(labels, start=1))


MEASURES = {"MAP": average_precision, "MRR": reciprocal_rank, "P": precision, "R": recall, "nDCG": ndcg}


def slow(measure: str, scores: dict[str, float], labels: dict[str, int]) -> float:
    """`slow("P@1", …)`: one measure on one question."""
    family, _, k = measure.partition("@")
    ranked = ranked_labels(scores, labels)
    return MEASURES[family](ranked, list(labels.values()), *([int(k)] if k else []))
