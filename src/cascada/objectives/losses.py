"""The losses of the point, pair and list levels, and of distillation."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax


def point(logits: Tensor, labels: Tensor, *, positive_weight: float = 1.0) -> Tensor:
    """Mean cross-entropy of (pairs, 2) logits against (pairs,) labels 0 and 1.

    A correct pair has weight `positive_weight`, others 1; the mean is weighted, so the scale of the loss is the same.
    """
    weight = logits.new_tensor([1.0, positive_weight])
    return cross_entropy(logits, labels, weight=weight)


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
    correct candidate with `all` incorrect ones, or with the `hardest`, which has the highest score. A question without
    correct or without incorrect candidates has no pairs and is left out of the mean.
    """
    scores = scores.sigmoid() if normalise == "sigmoid" else scores
    groups = group_count(owner)
    positive, negative = labels.bool(), ~labels.bool()
    pairing = _all_pairs if against == "all" else _hardest_pairs
    higher, lower, question = pairing(scores, positive, negative, owner, groups)
    hinge = (margin - (higher - lower)).clamp(min=0)
    pairs = group_sum(torch.ones_like(hinge), question, groups)
    return mean_where(group_sum(hinge, question, groups) / pairs.clamp(min=1), pairs > 0)


Pairing = tuple[Tensor, Tensor, Tensor]
"""Three (pairs,) tensors: the score of the positive, that of the negative, and the question's number."""


def _all_pairs(scores: Tensor, positive: Tensor, negative: Tensor, owner: Tensor, groups: int) -> Pairing:
    rows, others = positive.nonzero().flatten(), negative.nonzero().flatten()
    same = owner[rows][:, None] == owner[others][None, :]  # (positives, negatives)
    first, second = same.nonzero(as_tuple=True)
    return scores[rows[first]], scores[others[second]], owner[rows[first]]


def _hardest_pairs(scores: Tensor, positive: Tensor, negative: Tensor, owner: Tensor, groups: int) -> Pairing:
    highest = group_max(scores[negative], owner[negative], groups)  # (groups,)
    paired = positive & highest.isfinite()[owner]
    return scores[paired], highest[owner[paired]], owner[paired]


def list_level(scores: Tensor, labels: Tensor, owner: Tensor) -> Tensor:
    """KL(Y ‖ softmax of the scores) / candidates for each question, then mean over questions (equation 9).

    All arguments are (candidates,), as for `pair`; Y is a question's labels divided by their sum. The paper prints the
    divergence in the opposite direction, which would be infinite wherever a label is 0. A question without a correct
    candidate has no Y and is left out of the mean.
    """
    groups = group_count(owner)
    correct = group_sum(labels.to(scores.dtype), owner, groups)
    target = labels / correct.clamp(min=1)[owner]
    predicted = group_log_softmax(scores, owner)
    divergence = group_sum(torch.xlogy(target, target) - target * predicted, owner, groups)
    candidates = group_sum(torch.ones_like(scores), owner, groups)
    return mean_where(divergence / candidates.clamp(min=1), correct > 0)


def distill(logits: Tensor, teacher: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Mean divergence of (pairs, 2) logits from the teacher's, both softened by the temperature.

    It is multiplied by the squared temperature, which keeps the scale of the gradient (Hinton et al., 2015). The
    teacher gets no gradient.
    """
    target = log_softmax(teacher.detach() / temperature, -1)
    predicted = log_softmax(logits / temperature, -1)
    return kl_div(predicted, target, reduction="batchmean", log_target=True) * temperature**2


def distill_list(scores: Tensor, teacher: Tensor, owner: Tensor) -> Tensor:
    """KL(softmax of the teacher's scores ‖ softmax of the scores) of each question, then mean over questions.

    All arguments are (candidates,), as for `pair`. The teacher gets no gradient.
    """
    target = group_log_softmax(teacher.detach().to(scores.dtype), owner)
    divergence = target.exp() * (target - group_log_softmax(scores, owner))
    return group_sum(divergence, owner, group_count(owner)).mean()


def group_count(owner: Tensor) -> int:
    """The number of groups."""
    return int(owner.max()) + 1 if len(owner) else 0


def group_sum(values: Tensor, owner: Tensor, groups: int) -> Tensor:
    """(groups,) sums of (rows,) values; 0 for a group without rows."""
    return values.new_zeros(groups).index_add(0, owner, values)


def group_max(values: Tensor, owner: Tensor, groups: int) -> Tensor:
    """(groups,) largest of (rows,) values; minus infinity for a group without rows."""
    lowest = values.new_full((groups,), -torch.inf)
    return lowest.scatter_reduce(0, owner, values, "amax")


def group_log_softmax(scores: Tensor, owner: Tensor) -> Tensor:
    """(rows,): each row's log-probability among the rows of its group."""
    groups = group_count(owner)
    shifted = scores - group_max(scores.detach(), owner, groups)[owner]  # so that no exponential overflows
    return shifted - group_sum(shifted.exp(), owner, groups).log()[owner]


def mean_where(values: Tensor, counts: Tensor) -> Tensor:
    """Mean of the values of the groups where `counts` is True; 0, with a gradient of 0, if there are none."""
    return torch.where(counts, values, 0.0).sum() / counts.sum().clamp(min=1)
