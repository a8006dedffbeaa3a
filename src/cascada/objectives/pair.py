"""Pair level: a correct candidate scores higher than a wrong one of the same question, by a margin."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cascada.objectives.segments import group_count, group_max, group_sum, mean_where


def pair(
    scores: Tensor,
    labels: Tensor,
    owner: Tensor,
    *,
    margin: float = 1.0,
    against: Literal["all", "hardest"] = "all",
    normalise: Literal["none", "sigmoid"] = "none",
) -> Tensor:
    """Mean hinge max(0, margin − (positive − negative)) of a question's pairs, then mean over questions (equation 8).

    `scores`, `labels` (0 or 1) and `owner` (the question's number, from 0) are all (candidates,). `against` pairs each
    correct candidate with `all` wrong ones or with the `hardest`, the one that scores highest. A question whose
    candidates are all correct, or all wrong, has no pairs and does not count.
    """
    scores = scores.sigmoid() if normalise == "sigmoid" else scores
    groups = group_count(owner)
    positive, negative = labels.bool(), ~labels.bool()
    own, other, question = (_every if against == "all" else _hardest)(scores, positive, negative, owner, groups)
    hinge = (margin - (own - other)).clamp(min=0)
    pairs = group_sum(torch.ones_like(hinge), question, groups)
    return mean_where(group_sum(hinge, question, groups) / pairs.clamp(min=1), pairs > 0)


Pairing = tuple[Tensor, Tensor, Tensor]
"""Three (pairs,) tensors: the positive's score, the negative's, and the question."""


def _every(scores: Tensor, positive: Tensor, negative: Tensor, owner: Tensor, groups: int) -> Pairing:
    rows, others = positive.nonzero().flatten(), negative.nonzero().flatten()
    same = owner[rows][:, None] == owner[others][None, :]  # (positives, negatives)
    first, second = same.nonzero(as_tuple=True)
    return scores[rows[first]], scores[others[second]], owner[rows[first]]


def _hardest(scores: Tensor, positive: Tensor, negative: Tensor, owner: Tensor, groups: int) -> Pairing:
    highest = group_max(scores[negative], owner[negative], groups)  # (groups,)
    paired = positive & highest.isfinite()[owner]
    return scores[paired], highest[owner[paired]], owner[paired]
