"""List level: the scores of a question's candidates, as one distribution, match the labels. (`list` is taken.)"""

from __future__ import annotations

import torch
from torch import Tensor

from cascada.objectives.segments import group_count, group_log_softmax, group_sum, mean_where


def list_level(scores: Tensor, labels: Tensor, owner: Tensor) -> Tensor:
    """KL(Y ‖ softmax of the scores) / candidates for each question, then mean over questions (equation 9).

    All arguments are (candidates,), as for `pair`; Y is a question's labels divided by their sum. The paper prints the
    divergence the other way round, which is infinite wherever a label is 0; this is the direction that can be meant. A
    question without a correct candidate has no Y and does not count.
    """
    groups = group_count(owner)
    correct = group_sum(labels.to(scores.dtype), owner, groups)
    target = labels / correct.clamp(min=1)[owner]
    predicted = group_log_softmax(scores, owner)
    divergence = group_sum(torch.xlogy(target, target) - target * predicted, owner, groups)
    candidates = group_sum(torch.ones_like(scores), owner, groups)
    return mean_where(divergence / candidates.clamp(min=1), correct > 0)
